import { definePlugin } from '../../plugin/index.ts';

export const availability = definePlugin({
  name: 'availability',
  settings: {},
  async open() {
    const { part } = await import('./resolvers.ts');
    return { schema: [part] };
  },
});
