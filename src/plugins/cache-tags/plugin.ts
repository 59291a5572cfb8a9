import { z } from 'zod';
import { itemsOf } from '../../config/config.ts';
import { definePlugin } from '../../gateway/plugin.ts';

const forms = z
  .string()
  .transform((list) => [...new Set(itemsOf(list.toLowerCase()))])
  .pipe(
    z.array(
      z.enum(
        ['cache-tag', 'surrogate-key', 'apollo'],
        'must be Cache-Tag, Surrogate-Key and apollo, or some of them, comma-separated',
      ),
    ),
  );

export const cacheTags = definePlugin({
  name: 'cache-tags',
  settings: {
    /** Forms in which an answer names its countries, indicators and sources. */
    CACHE_TAGS: forms.default([]),
    /** Address that is told the tags of what has changed. */
    PURGE_URL: z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' }).optional(),
    /** Bearer for it. */
    PURGE_KEY: z.string().optional(),
  },
  secrets: ['PURGE_KEY'],
  async open({ CACHE_TAGS: tagForms, PURGE_URL: url, PURGE_KEY: key }, { problem }) {
    if (tagForms.length === 0 && url === undefined) return null;
    const { tagging } = await import('./answer-tags.ts');
    const { purgeStage } = await import('./purges.ts');
    return {
      ...(tagForms.length > 0 && { operation: tagging(tagForms) }),
      ...(url !== undefined && {
        call: purgeStage({ url, key, onProblem: (error: unknown) => problem(error, 'purge') }),
      }),
    };
  },
});
