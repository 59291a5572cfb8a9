import { definePlugin } from '../../plugin/index.ts';

export const absences = definePlugin({
  name: 'absences',
  settings: {},
  open: () => ({
    operationHeader: 'x-absences',
    operation: (next) => async (operation) => {
      const { openAbsenceNotes } = await import('./absence-notes.ts');
      return next(operation.noting(openAbsenceNotes()));
    },
  }),
});
