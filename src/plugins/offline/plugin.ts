import { onOff } from '../../config/config.ts';
import { definePlugin } from '../../gateway/plugin.ts';
import { uncached } from './uncached.ts';

export const offline = definePlugin({
  name: 'offline',
  settings: {
    /** True if no call leaves, whoever asks for whatever: what is cached answers, however old. */
    OFFLINE: onOff.default(false),
  },
  remarks: ({ OFFLINE: isOn }, { cacheUrl }) =>
    isOn && (cacheUrl === 'memory:' || cacheUrl === 'none')
      ? [
          'OFFLINE is on, and CACHE_URL names no store that lasts: nothing is cached, so nothing can be answered.',
        ]
      : [],
  open: ({ OFFLINE: isOn }) => ({
    offline: { isAlways: isOn, ...uncached },
    // What no operation asks for, as a look at the sources on behalf of subscriptions, stays here.
    ...(isOn && {
      call: () => async (call) => {
        throw uncached.ofCall(call);
      },
    }),
  }),
});
