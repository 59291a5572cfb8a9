import { definePlugin, onOff, remarksOnIdle, wholeNumber } from '../../plugin/index.ts';

export const subscriptions = definePlugin({
  name: 'subscriptions',
  settings: {
    /** True if clients may subscribe to changes. */
    SUBSCRIPTIONS: onOff.default(false),
    /** Seconds, at the least, between two looks at the sources on behalf of subscriptions. */
    SUBSCRIPTIONS_POLL_SECONDS: wholeNumber(1, 86_400).default(60),
    /** Subscriptions of one key at once. */
    MAX_SUBSCRIPTIONS: wholeNumber(1, 100_000).default(100),
  },
  remarks: ({ SUBSCRIPTIONS: isOn }, given) =>
    isOn
      ? []
      : remarksOnIdle(['SUBSCRIPTIONS_POLL_SECONDS', 'MAX_SUBSCRIPTIONS'], given, 'without SUBSCRIPTIONS=on'),
  async open({ SUBSCRIPTIONS: isOn, SUBSCRIPTIONS_POLL_SECONDS: pollSeconds, MAX_SUBSCRIPTIONS: most }) {
    const { part, partOff } = await import('./resolvers.ts');
    if (!isOn) return { schema: [partOff] };
    const { openLive } = await import('./live.ts');
    return { schema: [part], ...openLive({ most, pollMs: pollSeconds * 1000 }) };
  },
});
