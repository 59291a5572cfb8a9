import { openApollo } from './apollo.ts';
import type { OpenRun, OperationRun, RanOperation } from './operation-run.ts';
import { createPlainRun, type RunMeans } from './plain-run.ts';
import { type Incoming, onceOver } from './stages.ts';

/** Opens the last stage. It opens the run of each operation, and closes it once all of the answer is there. */
export async function openRunning(openRun: OpenRun, parts: RunMeans) {
  const runPlain = createPlainRun(parts);
  const apollo = await openApollo(parts);
  return {
    async run(incoming: Incoming): Promise<RanOperation> {
      const { request, caller, plain, trace, delivery } = incoming;
      const run = openRun(request, caller, trace, delivery, incoming);
      try {
        const answered = plain && (await runPlain(request, plain, run));
        return { response: answered ?? (await apollo.answer(request, run)), run };
      } finally {
        onceOver(delivery, () => close(run));
      }
    },
    stop: apollo.stop,
  };
}

/** Closes a run. Calls that it asked for and nobody waited for are not sent any more: its bill is shown. */
function close({ deadline, participant, payer }: OperationRun): void {
  participant.leave();
  payer.close();
  deadline.stop();
}
