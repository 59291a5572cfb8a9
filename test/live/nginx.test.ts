import { describe, expect, it } from 'vitest';
import { startNginx } from '../support/nginx.ts';
import { hasProgram } from '../support/programs.ts';
import { openLive } from './live.ts';

const SUBSCRIPTION = 'subscription { sourceRefreshed { key } }';

describe.skipIf(!hasProgram('nginx', '-v'))('a bare nginx', () => {
  it.for(['/graphql/stream', '/graphql'])(
    'a bare nginx passes on each event of %s as it comes',
    async (path) => {
      await using program = await openLive();
      await using nginx = await startNginx(Number(new URL(program.url).port));
      const leaving = new AbortController();
      const asking = fetch(nginx.url + path, {
        method: 'POST',
        signal: leaving.signal,
        headers: {
          accept: 'text/event-stream',
          'content-type': 'application/json',
          authorization: `Bearer ${program.sandbox.keys.team}`,
        },
        body: JSON.stringify({ query: SUBSCRIPTION }),
      });
      await expect.poll(() => program.requests().length, { timeout: 20_000 }).toBeGreaterThan(0);
      program.sandbox.refresh('world_bank_wdi');
      await program.round();
      const { body, headers } = await asking;
      let told = '';
      for await (const part of body as unknown as AsyncIterable<Uint8Array>) {
        told += Buffer.from(part);
        if (told.includes('event: next')) break;
      }
      expect(told).toContain('world_bank_wdi');
      expect(headers.get('content-type')).toContain('text/event-stream');
      leaving.abort();
    },
  );
});
