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
  commands: [
    {
      name: 'fill',
      description:
        'fetch figures, lists and records into CACHE_URL, as slowly as the plan takes it; tells the price first',
      load: async () => (await import('./fill.ts')).addFill,
    },
  ],
  open({ OFFLINE: isOn }) {
    return {
      offline: { isAlways: isOn, ...uncached },
      // What no operation asks for, as a look at the sources on behalf of subscriptions, stays here.
      ...(isOn && {
        call: () => async (call) => {
          throw uncached.ofCall(call);
        },
      }),
    };
  },
});
