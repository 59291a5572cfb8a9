import { z } from 'zod';
import { definePlugin, itemsOf } from '../../plugin/index.ts';

/** By their names in the setting; a part that isn't named isn't loaded. */
const PARTS = {
  policy: async () => (await import('./policy.ts')).part,
  trade: async () => (await import('./trade.ts')).part,
};

const names = z
  .string()
  .transform((list) => [...new Set(itemsOf(list))])
  .pipe(z.array(z.enum(['policy', 'trade'], 'must be trade, policy or both, comma-separated')));

export const extraRoutes = definePlugin({
  name: 'extra-routes',
  settings: {
    /** Routes that the specification names no paths for: they are asked, and in the schema, only if they stand here. */
    EXTRA_ROUTES: names.default([]),
  },
  async open({ EXTRA_ROUTES: wanted }, { elapsed }) {
    if (wanted.length === 0) return null;
    const schema = await Promise.all(wanted.map((name) => PARTS[name]()));
    const { absentRoutesStage } = await import('./absent-routes.ts');
    const routes = new Set(schema.flatMap(({ endpoints = [] }) => endpoints).map(({ route }) => route));
    return { schema, call: absentRoutesStage(routes, elapsed) };
  },
});
