import { wholeNumber } from '../../config/config.ts';
import { definePlugin } from '../../gateway/plugin.ts';
import { METHODS } from '../../graphql/request/messages.ts';

export const batches = definePlugin({
  name: 'batches',
  settings: {
    /** Operations that one request may bring in an array; 0 for none. */
    MAX_BATCHED_OPERATIONS: wholeNumber(0, 1000).default(10),
  },
  open: ({ MAX_BATCHED_OPERATIONS: most }) => ({
    request(next, { config: { maxAnswerBytes } }) {
      const load = () => import('./answer-all.ts');
      return (request) => {
        const { body, method } = request;
        if (!Array.isArray(body) || !METHODS.get(method)?.hasBody) return next(request);
        return load().then(({ answerAll }) => answerAll(request, body, next, { most, maxAnswerBytes }));
      };
    },
  }),
});
