import type { PrefixedNames } from '../graph/prefixed-names.ts';
import type { FeedParts } from './feed.ts';
import { createFeeds } from './feeds.ts';
import { prefixedSubscriptions } from './prefixed-subscriptions.ts';
import { createSubscriptions, type Subscriptions, type SubscriptionsParts } from './subscriptions.ts';

export interface OpenSubscriptionsParts extends Omit<SubscriptionsParts, 'feeds'> {
  readonly feedParts: Omit<FeedParts, 'onFault'>;
  /** Names that routers know ours by; null if they are ours. */
  readonly names: PrefixedNames | null;
}

/** Opens subscriptions and their feeds. Only loaded if they are on. */
export function openSubscriptions({ feedParts, names, ...parts }: OpenSubscriptionsParts): Subscriptions {
  const feeds = createFeeds({ ...feedParts, onFault: parts.onFault });
  const subscriptions = createSubscriptions({ ...parts, feeds });
  return names === null ? subscriptions : prefixedSubscriptions(subscriptions, names, parts.config.maxTokens);
}
