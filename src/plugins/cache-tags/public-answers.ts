import type { Handle } from '../../graphql/request/stages.ts';
import { looksIssued } from '../../keys/tenant.ts';
import { mapValue } from '../../shared/async/turns.ts';

const PRIVATE = /^private(?=, max-age=)/;

/**
 * Lets shared caches keep answers to issued keys, separately for each key because of `Vary`. Answers to keys of the service
 * stay private, and so do answers without a max-age.
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
