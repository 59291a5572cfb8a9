import type { Handle } from '../../graphql/request/messages.ts';
import type { AnswerAdditions, GraphContext } from '../../graphql/schema/context.ts';
import { type Pair, pairOfName } from '../../observations/planner/demand.ts';
import { isObject } from '../../service/records/envelope.ts';
import { ALL_FIGURES, indicatorTag, sourceTag } from './tags.ts';

type Form = 'cache-tag' | 'surrogate-key' | 'apollo';

/** Characters of one header, of which a server or a CDN takes some 16,000 for all of them. */
const MAX_CHARACTERS = 8_000;

/** Adds to each answer the tags of the figures that it has read, in some forms. */
export function tagging(forms: readonly Form[]): (next: Handle) => Handle {
  return (next) => (incoming) => {
    const additions = additionsOf(forms, entitiesIn(incoming.request.body));
    return next({ ...incoming, additions });
  };
}

/** The references of a router, as all of them send these; null if a request has none. */
function entitiesIn(body: unknown): readonly unknown[] | null {
  const variables = isObject(body) && isObject(body.variables) ? body.variables : {};
  const { representations } = variables;
  return Array.isArray(representations) ? representations : null;
}

function additionsOf(forms: readonly Form[], entities: readonly unknown[] | null): AnswerAdditions {
  return {
    headers(context) {
      const headers = new Map<string, string>();
      const tags = tagsOf(context);
      if (tags.length === 0) return headers;
      if (forms.includes('cache-tag')) headers.set('cache-tag', joined(tags, ','));
      if (forms.includes('surrogate-key')) headers.set('surrogate-key', joined(tags, ' '));
      return headers;
    },
    extensions(context) {
      if (!forms.includes('apollo')) return {};
      if (entities === null) return { apolloCacheTags: tagsOf(context) };
      return { apolloEntityCacheTags: entities.map((entity) => tagsOf(context, isOfEntity(entity))) };
    },
  };
}

/** Too many tags for a header give way to the one that stands for all. */
function joined(tags: readonly string[], by: string): string {
  const text = tags.join(by);
  return text.length > MAX_CHARACTERS ? ALL_FIGURES : text;
}

/** Tells the figures of an entity from those of others, by its country or its indicator; all are meant for any other. */
function isOfEntity(entity: unknown): (pair: Pair) => boolean {
  const { __typename: type, code, key } = isObject(entity) ? entity : {};
  if (type === 'Country' && typeof code === 'string')
    return ({ countryCode }) => countryCode === code.toUpperCase();
  if (type === 'Indicator' && typeof key === 'string') return ({ metricKey }) => metricKey === key;
  return () => true;
}

/** The tags of all figures that an operation has asked for, those that there are none of included. */
function tagsOf({ loaders }: GraphContext, isMeant: (pair: Pair) => boolean = () => true): readonly string[] {
  const tags = new Set<string>();
  for (const [name, outcome] of loaders.observations.came()) {
    const pair = pairOfName(name);
    if (outcome instanceof Error || !isMeant(pair)) continue;
    tags.add(`country-${pair.countryCode}`);
    tags.add(indicatorTag(pair.metricKey));
    for (const { source } of outcome) tags.add(sourceTag(source));
  }
  return [...tags].sort();
}
