import { setupWorker } from 'msw/browser';
import { handlers } from '../generated/msw/handlers.ts';

/** An address that nothing answers but the handlers. */
const STUBBED = new URL('/graphql', location.href);
const QUERY = new URLSearchParams(location.search).get('query') ?? '';

const worker = setupWorker(...handlers);
await worker.start({ quiet: true, serviceWorker: { url: './mockServiceWorker.js' } });

async function ask(request: Request): Promise<string> {
  const response = await fetch(request);
  return response.text();
}

const headers = { authorization: 'Bearer any-key', 'content-type': 'application/json' };
const posted = new Request(STUBBED, { method: 'POST', headers, body: JSON.stringify({ query: QUERY }) });
const got = new Request(`${STUBBED}?${new URLSearchParams({ query: QUERY })}`, { headers });
for (const request of [posted, got]) {
  const shown = document.createElement('pre');
  shown.textContent = await ask(request).catch(String);
  document.body.append(shown);
}
