import { definePlugin } from '../../gateway/plugin.ts';
import type { PlainRequest } from '../../graphql/request/plain-requests.ts';
import type { Incoming } from '../../graphql/request/stages.ts';

/** Answers with reasons are cached apart from those without. */
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
      return (incoming) =>
        incoming.request.headers['x-absences'] === '1' ? answerWhy(incoming) : next(incoming);
    },
  }),
});
