import { readConfig } from '../config.ts';
import { createGateway } from '../gateway.ts';
import { wholeBody } from '../operations/responses.ts';
import type { AskedOperation } from './asking.ts';

/**
 * Asks a gateway that holds nothing, logs nothing, and ends with the question.
 * @param headers added to the header of the content type
 * @returns the body of its answer
 */
export async function askQuietly(
  upstreamUrl: string,
  question: AskedOperation,
  headers: Readonly<Record<string, string>>,
): Promise<string> {
  const observer = { operation() {}, attempt() {}, problem() {} };
  const config = readConfig({ CACHE_URL: 'none' });
  const gateway = await createGateway({ config, upstreamUrl, observer });
  try {
    const { body } = await gateway.handle({
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      search: '',
      body: question,
      signal: new AbortController().signal,
    });
    return await wholeBody(body);
  } finally {
    await gateway.stop();
  }
}
