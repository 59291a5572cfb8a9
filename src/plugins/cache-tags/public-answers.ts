import { type HandleOperation, mapValue } from '../../plugin/index.ts';

const PRIVATE = /^private(?=, max-age=)/;

/**
 * Lets shared caches keep answers to issued keys, separately for each key because of `Vary`. Answers to keys of the service
 * stay private, and so do answers without a max-age.
 */
export function publicAnswers(next: HandleOperation): HandleOperation {
  return (operation) => {
    const answered = next(operation);
    if (!operation.isIssued) return answered;
    return mapValue(answered, (response) => {
      const caching = (response.headers.get('cache-control') ?? '').replace(PRIVATE, 'public');
      return { ...response, headers: new Map(response.headers).set('cache-control', caching) };
    });
  };
}
