import type { Handle } from '../../graphql/request/stages.ts';
import { looksIssued } from '../../keys/tenant.ts';
import { mapValue } from '../../shared/async/turns.ts';

const PRIVATE = /^private(?=, max-age=)/;

/**
 * Lets shared caches keep what is answered to an issued key, apart for each key, as `Vary` has it. Who brings a key of the
 * service is answered in private, were it the very key that issued ones stand for; so is what holds for no known time.
 */
export function publicAnswers(next: Handle): Handle {
  return (incoming) => {
    const { headers, exchanged } = incoming.request;
    const answered = next(incoming);
    if (exchanged === undefined || !looksIssued(headers.authorization ?? '')) return answered;
    return mapValue(answered, (response) => {
      const caching = (response.headers.get('cache-control') ?? '').replace(PRIVATE, 'public');
      return { ...response, headers: new Map(response.headers).set('cache-control', caching) };
    });
  };
}
