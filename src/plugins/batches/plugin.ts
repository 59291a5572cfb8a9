import { definePlugin, HeldOperations, wholeNumber } from '../../plugin/index.ts';

export const batches = definePlugin({
  name: 'batches',
  settings: {
    /** Operations that one request may bring in an array, or by a list of variables; 0 for none. */
    MAX_BATCHED_OPERATIONS: wholeNumber(0, 1000).default(10),
  },
  open: ({ MAX_BATCHED_OPERATIONS: most }) => ({
    request(next, { limits: { answerBytes: maxAnswerBytes } }) {
      const load = () => import('./answer-all.ts');
      return (request) => {
        const held = new HeldOperations(request);
        if (!held.isBatch) return next(request);
        return load().then(({ answerAll }) => answerAll(request, held, next, { most, maxAnswerBytes }));
      };
    },
  }),
});
