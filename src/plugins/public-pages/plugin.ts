import { definePlugin } from '../../gateway/plugin.ts';

export const publicPages = definePlugin({
  name: 'public-pages',
  settings: {},
  commands: [
    {
      name: 'publish',
      description: 'make a page, a picture and data at an address of a file with one query; prints its frame',
      load: async () => (await import('./publish.ts')).addPublish,
    },
  ],
  open: () => null,
});
