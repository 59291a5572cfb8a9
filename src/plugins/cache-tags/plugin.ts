import { z } from 'zod';
import { definePlugin, type HandleOperation, httpAddress, itemsOf, onOff } from '../../plugin/index.ts';

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
    /** True if shared caches may keep the answers to issued keys. */
    PUBLIC_ANSWERS: onOff.default(false),
    /** Address that is told the tags of what has changed. */
    PURGE_URL: httpAddress.optional(),
    /** Bearer for it. */
    PURGE_KEY: z.string().optional(),
  },
  secrets: ['PURGE_KEY'],
  errors: ({ PUBLIC_ANSWERS: isOn, COUNTRY_DATA_KEY: key, PURGE_KEY: purgeKey, PURGE_URL: purgeUrl }) => [
    ...(isOn === 'on' && key === undefined
      ? ['PUBLIC_ANSWERS: is for issued keys alone, so COUNTRY_DATA_KEY must be there to issue them under']
      : []),
    ...(purgeKey !== undefined && purgeUrl === undefined
      ? ['PURGE_KEY: is sent to PURGE_URL alone, so that must be there']
      : []),
  ],
  async open(
    { CACHE_TAGS: tagForms, PUBLIC_ANSWERS: arePublic, PURGE_URL: url, PURGE_KEY: key },
    { problem },
  ) {
    if (tagForms.length === 0 && url === undefined && !arePublic) return null;
    const same = (next: HandleOperation) => next;
    const tagged = tagForms.length === 0 ? same : (await import('./answer-tags.ts')).tagging(tagForms);
    const shown = arePublic ? (await import('./public-answers.ts')).publicAnswers : same;
    const purges = url === undefined ? null : await import('./purges.ts');
    const onProblem = (error: unknown) => problem(error, 'purge');
    return {
      operation: (next) => shown(tagged(next)),
      ...(url !== undefined && purges !== null && { call: purges.purgeStage({ url, key, onProblem }) }),
    };
  },
});
