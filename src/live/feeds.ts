import type { LiveSources } from '../graph/live.ts';
import type { Caller } from '../upstream/call.ts';
import { Feed, type FeedParts } from './feed.ts';

/** The feeds of all keys, one each, as long as anybody subscribes under it. */
export interface Feeds {
  /** Returns the source of events for a caller's subscriptions. */
  of(caller: Caller): LiveSources;
  stop(): void;
}

export function createFeeds(parts: FeedParts): Feeds {
  const feeds = new Map<string, Feed>();

  function feedOf(caller: Caller): Feed {
    const { keyDigest } = caller;
    let feed = feeds.get(keyDigest);
    if (feed === undefined) {
      const opened: Feed = new Feed(caller, parts, () => {
        if (feeds.get(keyDigest) === opened) feeds.delete(keyDigest);
      });
      feed = opened;
      feeds.set(keyDigest, feed);
    }
    return feed;
  }

  return {
    of: (caller) => ({
      figures: (...asked) => feedOf(caller).figures(caller, ...asked),
      sources: (...asked) => feedOf(caller).sources(caller, ...asked),
    }),
    stop() {
      for (const feed of feeds.values()) feed.close();
      feeds.clear();
    },
  };
}
