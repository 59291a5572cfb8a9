import { z } from 'zod';
import { definePlugin, onOff, remarksOnIdle, type StartedServices, wholeNumber } from '../../plugin/index.ts';
import { CATALOGUE_SEARCH } from './own-tools.ts';

export const mcpTools = definePlugin({
  name: 'mcp-tools',
  settings: {
    /** True if described trusted documents are tools of the Model Context Protocol. */
    MCP: onOff.default(false),
    /** Calls that tools may send under a key in an hour, or in a session on standard input; undefined for any number. */
    MCP_BUDGET: wholeNumber(0, 1_000_000_000).optional(),
    /** Name of the issued key under which tools run for callers who bring none. */
    MCP_KEY: z
      .string()
      .regex(/^[\w.-]{1,64}$/, 'must be the name of an issued key')
      .optional(),
  },
  errors(given) {
    const {
      MCP,
      MCP_KEY: key,
      MCP_BUDGET: budget,
      CACHE_URL: store = 'memory:',
      WORKERS: workers = '1',
    } = given;
    const errors: string[] = [];
    if (MCP === 'on' && given.TRUSTED_DOCUMENTS === undefined)
      errors.push(
        'MCP: on makes tools of the trusted documents, so TRUSTED_DOCUMENTS must name the file that they stand in',
      );
    if (MCP === 'on' && given.TRUSTED_DOCUMENTS_FOR === 'issued')
      errors.push('TRUSTED_DOCUMENTS_FOR: must be all if MCP=on makes tools of the documents');
    if (key !== undefined && given.COUNTRY_DATA_KEY === undefined)
      errors.push('MCP_KEY: names an issued key, so COUNTRY_DATA_KEY must be there to issue keys under');
    if (budget !== undefined && workers !== '1' && (store === 'memory:' || store === 'none'))
      errors.push('MCP_BUDGET: workers share it by CACHE_URL=sqlite:PATH or redis://…');
    return errors;
  },
  remarks: ({ MCP: isOn }, given) =>
    isOn ? [] : remarksOnIdle(['MCP_BUDGET', 'MCP_KEY'], given, 'without MCP=on, but for the command mcp'),
  commands: [
    {
      name: 'mcp',
      description: 'serve the described trusted documents as tools (MCP) on standard input and output',
      load: async () => (await import('./command.ts')).addMcp,
    },
  ],
  open({ MCP: isOn, MCP_BUDGET: budget, MCP_KEY: keyName }, { openStore, release }) {
    if (!isOn) return null;
    let gateway: StartedServices;
    let listed: Awaited<ReturnType<typeof import('./mcp-route.ts')['mcpRoute']>> | undefined;
    const needed =
      keyName === undefined
        ? 'Listing tools needs no key; to run one, send the key of the service as `Authorization: Bearer`.'
        : 'No key is needed.';
    return {
      documents: [CATALOGUE_SEARCH],
      start(started) {
        gateway = started;
      },
      http: {
        async routes(app, host) {
          const { mcpRoute } = await import('./mcp-route.ts');
          const settings = { budget, keyName, openStore, version: release() };
          listed = await mcpRoute(app, gateway, host, settings);
        },
        models: {
          way: `- [Tools](mcp): Model Context Protocol by streamable HTTP, revisions of 2025 and 2026-07-28. ${needed}`,
          heading: 'Tools',
          things: async () =>
            ((await listed?.()) ?? []).map(({ name, description = '' }) => ({
              name: `**${name}**`,
              words: description,
            })),
        },
      },
    };
  },
});
