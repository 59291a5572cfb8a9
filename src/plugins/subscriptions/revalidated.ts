import { type HandleRequest, mapValue } from '../../plugin/index.ts';

const MAX_AGE = /max-age=\d+/;

/**
 * Lets HTTP caches keep answers, but not reuse them before the gateway has confirmed their ETag: after an event, a page
 * must not get the figures before it from its browser's cache. An answer may be older than the subscription, so those
 * to all clients are treated alike. The gateway's own requests have no credentials: public pages are not live.
 */
export function revalidated(next: HandleRequest): HandleRequest {
  return (request) => {
    const answered = next(request);
    if (request.headers.authorization === undefined) return answered;
    return mapValue(answered, (response) => {
      const caching = response.headers.get('cache-control') ?? '';
      if (!MAX_AGE.test(caching)) return response;
      const live = caching.replace(MAX_AGE, 'max-age=0, must-revalidate');
      return { ...response, headers: new Map(response.headers).set('cache-control', live) };
    });
  };
}
