import { openPage } from '../clients/holding.ts';
import type { Program, Reply } from '../support/program.ts';
import type { Service } from './service.ts';
import type { Json } from './world.ts';

interface Given {
  readonly text: string;
  readonly variables: Json;
  readonly key: string;
}

export type Holding = Awaited<ReturnType<typeof openHolding>>;

/**
 * A page that holds figures of a gateway, and a gateway that is asked the same without it.
 * @param service of the latter
 */
export async function openHolding(
  program: Program,
  now: () => number,
  service: Service,
  open: (upstreamUrl: string) => Promise<Program>,
) {
  const plain = await open(service.url);
  const page = openPage(program, { clock: () => ({ wallMs: now(), steadyMs: now() }) });
  /** Calls that the page has spared so far, less those that it took beyond. */
  let lead = 0;
  const askPlain = ({ text, variables, key }: Given) => plain.ask(text, { variables, key });
  return {
    async ask({ text, variables, key }: Given): Promise<Reply> {
      const shown = await page.ask(text, variables, { key });
      return { ...shown, upstream: shown.extensions?.upstream };
    },
    askPlain,
    /** Asks the other gateway the same. @returns the number of calls that the page has taken beyond its, all told */
    async beyond(given: readonly Given[], sent: number): Promise<number> {
      await Promise.all(given.map(askPlain));
      lead += service.takeLog().length - sent;
      const beyond = Math.max(0, -lead);
      // Told once.
      lead += beyond;
      return beyond;
    },
    async close() {
      page[Symbol.dispose]();
      await plain[Symbol.asyncDispose]();
      await service.close();
    },
  };
}
