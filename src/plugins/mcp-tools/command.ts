import { Transform } from 'node:stream';
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  type JSONRPCMessage,
  type RequestId,
} from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Command } from 'commander';
import { type CommandHost, parseExactly } from '../../plugin/index.ts';
import { createToolBudgets } from './budgets.ts';
import { CATALOGUE_SEARCH } from './own-tools.ts';
import { openToolCallers } from './tool-callers.ts';
import { createToolServers, withoutNulls } from './tool-server.ts';

const WITHOUT_DOCUMENTS =
  'TRUSTED_DOCUMENTS: must name the file of the operations that are to be tools; each needs a name and a description.';

interface ToolSettings {
  readonly MCP_BUDGET?: number;
  readonly MCP_KEY?: string;
}

export function addMcp(command: Command, host: CommandHost): void {
  command
    .option('--key-file <file>', 'a file that the key stands in; left out, COUNTRY_GRAPH_KEY has it')
    .action(({ keyFile }: { keyFile?: string }) => serveTools(host, keyFile));
}

/** Serves until the input has ended and all requests are answered. The log goes to standard error. */
async function serveTools(host: CommandHost, keyFile: string | undefined): Promise<void> {
  const remarks: string[] = [];
  const { own, bodyBytes, hasDocuments, openService, openStore } = host.settings((words) =>
    remarks.push(words),
  );
  if (!hasDocuments) throw host.settingsError(WITHOUT_DOCUMENTS);
  const { MCP_BUDGET: budget, MCP_KEY: keyName } = own('mcp-tools') as ToolSettings;
  const service = await openService({ key: host.env.COUNTRY_GRAPH_KEY, keyFile, remarks });
  const { key, problem } = service;
  try {
    if (key === undefined && keyName === undefined)
      throw host.error('There is no key: set COUNTRY_GRAPH_KEY, or name a file by --key-file.');
    const counts = await openStore('memory:');
    // With MCP=off, the plugin of the tools admits no document.
    const { gateway, release, stop } = await service.openGateway([CATALOGUE_SEARCH]);
    try {
      const callers = openToolCallers(gateway, keyName);
      const { open } = createToolServers(
        callers,
        release,
        (error) => problem(error, 'mcp'),
        budget === undefined ? null : createToolBudgets(budget, counts, callers.openBudget, null),
      );
      const authorization = key === undefined ? undefined : `Bearer ${key}`;
      await answerAll(() => open({ authorization }), bodyBytes, host);
    } finally {
      await stop();
    }
  } finally {
    await service.close();
  }
}

/** Answers until the input has ended, or nobody reads the output. */
async function answerAll(
  open: Parameters<typeof serveStdio>[0],
  maxBytes: number,
  host: CommandHost,
): Promise<void> {
  const { stdin, stdout } = process;
  // The transport would give up all pending requests at the end of its input, so it never sees the end.
  const input = linesWithoutNulls(maxBytes);
  const transport = new StdioServerTransport(input, stdout, { maxBufferSize: maxBytes });
  const { promise: over, resolve: end, reject } = Promise.withResolvers<void>();
  const unanswered = new Set<RequestId>();
  let hasEnded = false;
  const settled = (id: RequestId | undefined) => {
    if (id !== undefined) unanswered.delete(id);
    if (hasEnded && unanswered.size === 0) end();
  };
  const send = transport.send.bind(transport);
  transport.send = async (message) => {
    await send(message);
    if (!('method' in message)) settled(message.id);
  };
  const serving = serveStdio(open, { transport, maxSubscriptions: 0 });
  const { onmessage: take, onclose: leave } = transport;
  transport.onmessage = (message) => {
    if (isJSONRPCRequest(message)) unanswered.add(message.id);
    else settled(cancelledIn(message));
    take?.(message);
  };
  transport.onclose = () => {
    reject(host.error(`A message is longer than ${maxBytes} bytes (MAX_BODY_BYTES).`));
    leave?.();
  };
  stdin.once('end', () => {
    hasEnded = true;
    settled(undefined);
  });
  stdout.once('error', () => end());
  stdin.pipe(input, { end: false });
  await over.finally(() => {
    stdin.unpipe(input);
    return serving.close();
  });
}

/** Drops nulls from messages of a line each; too long a line passes as it is. */
function linesWithoutNulls(maxBytes: number): Transform {
  let rest = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _, done) {
      rest = Buffer.concat([rest, chunk]);
      for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
        this.push(withoutNullsIn(rest.subarray(0, end + 1)));
        rest = rest.subarray(end + 1);
      }
      if (rest.length > maxBytes) {
        this.push(rest);
        rest = Buffer.alloc(0);
      }
      done();
    },
  });
}

function withoutNullsIn(line: Buffer): Buffer | string {
  try {
    const text = line.toString();
    return text.includes('null') ? `${JSON.stringify(withoutNulls(parseExactly(text)))}\n` : line;
  } catch {
    return line;
  }
}

function cancelledIn(message: JSONRPCMessage): RequestId | undefined {
  if (!isJSONRPCNotification(message) || message.method !== 'notifications/cancelled') return undefined;
  const id = message.params?.requestId;
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
}
