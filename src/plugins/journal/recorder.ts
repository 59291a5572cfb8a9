import {
  type CallStage,
  messageOf,
  type OutgoingCall,
  type PluginHost,
  type Turns,
} from '../../plugin/index.ts';
import type { Journal } from './journal.ts';
import { sightsIn } from './sights.ts';

/** Answers that wait to be recorded: some megabytes each, if they are large. */
const MOST_WAITING = 50;

type SeenAnswer = Pick<OutgoingCall, 'owner' | 'target'> & {
  readonly atMs: number;
  readonly figures: () => ReturnType<OutgoingCall['figuresIn']>;
};

/** Records what answers show, one after the other and behind their backs: no answer waits for it, or fails by it. */
export class Recorder {
  readonly #journal: Journal;
  readonly #host: PluginHost;
  readonly #turns: () => Turns;
  readonly #waiting: SeenAnswer[] = [];
  #recording: Promise<void> | null = null;
  #isFailing = false;
  /** Answers that could not be recorded, or were too many. */
  unrecorded = 0;

  constructor(journal: Journal, host: PluginHost, turns: () => Turns) {
    this.#journal = journal;
    this.#host = host;
    this.#turns = turns;
  }

  readonly stage: CallStage = async (call, next) => {
    const answer = await next();
    if (call.about === 'figures' && answer.status === 200) {
      const { owner, target } = call;
      this.#add({ owner, target, atMs: this.#host.now(), figures: () => call.figuresIn(answer.body) });
    }
    return answer;
  };

  /** Settles once all answers that have come are recorded. */
  async recorded(): Promise<void> {
    await this.#recording;
  }

  #add(answer: SeenAnswer): void {
    if (this.#waiting.length === MOST_WAITING) {
      this.#fail(new Error(`Answers wait for the journal: ${MOST_WAITING}. Further ones are not recorded.`));
      return;
    }
    this.#waiting.push(answer);
    this.#recording ??= this.#recordAll();
  }

  async #recordAll(): Promise<void> {
    const turns = this.#turns();
    // The answer itself goes first.
    await turns.next();
    for (let answer = this.#waiting.shift(); answer !== undefined; answer = this.#waiting.shift()) {
      const { owner, target, atMs, figures } = answer;
      try {
        await this.#journal.record({ owner, atMs, sights: sightsIn(target, figures()) }, turns);
        this.#isFailing = false;
      } catch (error) {
        this.#fail(error);
      }
    }
    this.#recording = null;
  }

  /** Logs the first of several failures in a row. */
  #fail(error: unknown): void {
    this.unrecorded += 1;
    if (this.#isFailing) return;
    this.#isFailing = true;
    const words = `An answer can't be recorded (${messageOf(error)}). It was served all the same.`;
    this.#host.problem(new Error(words, { cause: error }), 'journal');
  }
}
