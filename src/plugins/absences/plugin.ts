import { definePlugin } from '../../gateway/plugin.ts';
import type { PlainRequest } from '../../graphql/request/plain-requests.ts';
import type { Incoming } from '../../graphql/request/stages.ts';

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
      const answerWhy = async (incoming: Incoming) => {
        const { openAbsenceNotes } = await import('./absence-notes.ts');
        const plain = incoming.plain && askingWhy(incoming.plain);
        return next({ ...incoming, plain, absences: openAbsenceNotes() });
      };
      return (incoming) => {
        return incoming.request.headers['x-absences'] === '1' ? answerWhy(incoming) : next(incoming);
      };
    },
  }),
});
