import { wholeNumber } from '../../config/config.ts';
import { definePlugin } from '../../gateway/plugin.ts';
import { isBatch, METHODS } from '../../graphql/request/requests.ts';

export const batches = definePlugin({
  name: 'batches',
  settings: {
    /** Operations that one request may bring in an array, or by a list of variables; 0 for none. */
    MAX_BATCHED_OPERATIONS: wholeNumber(0, 1000).default(10),
  },
  open: ({ MAX_BATCHED_OPERATIONS: most }) => ({
    request(next, { config: { maxAnswerBytes } }) {
      const load = () => import('./answer-all.ts');
      return (request) => {
        const { body, method } = request;
        if (!isBatch(body) || !METHODS.get(method)?.hasBody) return next(request);
        return load().then(({ answerAll }) => answerAll(request, next, { most, maxAnswerBytes }));
      };
    },
  }),
});
