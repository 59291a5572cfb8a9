import { Option } from 'commander';
import type { CommandHost, StartedServices } from '../../plugin/index.ts';

export type Host = CommandHost;
export type Filling = Awaited<ReturnType<ReturnType<CommandHost['settings']>['openFilling']>>;
export type FillQuota = Awaited<ReturnType<Filling['quota']>>;
export type Reply = Awaited<ReturnType<StartedServices['explain']>>;

/** Settings of the plugin that commands which send calls don't heed. */
export const UNHEEDED = ['OFFLINE', 'OFFLINE_FIXTURES'];

export interface Surroundings {
  readonly host: CommandHost;
  /** The wall clock, in milliseconds since the epoch. */
  readonly now: () => number;
  readonly isTerminal: boolean;
  /** To standard output. */
  readonly print: (text: string) => void;
  /** To standard error. */
  readonly note: (text: string) => void;
  /** Null if nobody is there to answer. */
  readonly confirm: ((question: string) => Promise<boolean>) | null;
}

/** On a command line, other users of the machine could read the key; in the environment they can't. */
export const keyOption = (description = 'the key, without the word Bearer') =>
  new Option('--key <key>', description).env('COUNTRY_GRAPH_KEY');
