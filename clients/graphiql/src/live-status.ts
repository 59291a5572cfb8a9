import { createStore } from './store.ts';

/** State of a subscription. */
export interface LiveStatus {
  /** The tab that it was run in. */
  readonly tab: string;
  readonly state: 'waiting' | 'current' | 'paused' | 'ended';
  /** Events so far. */
  readonly events: number;
  /** Time of the last one, in milliseconds of the epoch; null before the first. */
  readonly at: number | null;
  /** Reason for which it is paused, or has ended. */
  readonly words: string;
}

/** The subscription that was run last; null if none was, or something else has been run since. */
export const liveStatus = createStore<LiveStatus | null>(null);

export const isUnderWay = (status: LiveStatus | null): boolean => status !== null && status.state !== 'ended';

let isOffered = false;

/** Notes if the gateway takes subscriptions. */
export function offerLive(isOn: boolean): void {
  isOffered = isOn;
}

export const isLiveOffered = () => isOffered;
