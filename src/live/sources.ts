import { Failure } from '../errors.ts';
import { leftOutOf } from '../upstream/records/left-out.ts';
import type { SourceRecord } from '../upstream/records/platform.ts';
import { Inbox } from './inbox.ts';
import type { Look } from './look.ts';

/** One subscription to runs of sources. */
interface SourceSubscriber {
  /** Keys of its sources, in lower case; null for all. */
  readonly keys: ReadonlySet<string> | null;
  /** Runs that are to be told, the last one of each source. */
  readonly pending: Map<string, SourceRecord>;
  readonly inbox: Inbox<SourceRecord>;
}

/** Watches the sources of all subscriptions to them under one key. */
export class SourceWatch {
  readonly #subscribers = new Set<SourceSubscriber>();

  /** @throws Failure BAD_USER_INPUT if the service is known to have no source of a key */
  subscribe(keys: readonly string[] | null, look: Look | null): Inbox<SourceRecord> {
    const wanted = keys && new Set(keys.map((key) => key.toLowerCase()));
    if (wanted !== null && look !== null && leftOutOf(look.records) === null) {
      const known = new Set(look.records.map(({ key }) => key.toLowerCase()));
      const unknown = keys?.find((key) => !known.has(key.toLowerCase()));
      if (unknown !== undefined)
        throw new Failure(
          'BAD_USER_INPUT',
          `The service has no source of the key ${unknown}, so nothing could ever be told of it.`,
        );
    }
    const pending = new Map<string, SourceRecord>();
    const inbox = new Inbox<SourceRecord>({
      take() {
        const [first] = pending.values();
        if (first === undefined) return null;
        pending.delete(first.key);
        return first;
      },
      nothing: () => null,
      onClose: () => this.#subscribers.delete(subscriber),
    });
    const subscriber = { keys: wanted, pending, inbox };
    this.#subscribers.add(subscriber);
    return inbox;
  }

  /** Notes sources that have run. @returns the inboxes that are to be told */
  ran(records: readonly SourceRecord[]): Inbox<SourceRecord>[] {
    const told: Inbox<SourceRecord>[] = [];
    for (const { keys, pending, inbox } of this.#subscribers) {
      const wanted = records.filter(({ key }) => keys === null || keys.has(key.toLowerCase()));
      for (const record of wanted) {
        // Sources that have waited longest come first, in the order of their last runs.
        pending.delete(record.key);
        pending.set(record.key, record);
      }
      if (wanted.length > 0) told.push(inbox);
    }
    return told;
  }
}
