import { definePlugin } from '../../gateway/plugin.ts';
import type { PlainRequest } from '../../graphql/request/messages.ts';

/** An answer that tells why is cached beside the one that doesn't. */
const askingWhy = (plain: PlainRequest): PlainRequest => ({
  ...plain,
  question: `absences\n${plain.question}`,
});

export const absences = definePlugin({
  name: 'absences',
  settings: {},
  open: () => ({
    operation(next) {
      const load = () => import('./absence-notes.ts');
      return (incoming) => {
        const { request, plain } = incoming;
        if (request.headers['x-absences'] !== '1') return next(incoming);
        return load().then(({ openAbsenceNotes }) =>
          next({ ...incoming, plain: plain && askingWhy(plain), absences: openAbsenceNotes() }),
        );
      };
    },
  }),
});
