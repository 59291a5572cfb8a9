import type { Handle } from '../../graphql/request/stages.ts';
import type { AnswerAdditions, GraphContext } from '../../graphql/schema/context.ts';
import { pairOfName } from '../../observations/planner/demand.ts';
import { makeCall } from '../../service/call.ts';
import { isObject } from '../../service/records/envelope.ts';
import { once } from '../../shared/once.ts';
import { ALL_FIGURES, indicatorTag, routeTag, sourceTag } from './tags.ts';

type Form = 'cache-tag' | 'surrogate-key' | 'apollo';

/** Characters of one header, of which a server or a CDN takes some 16,000 for all of them. */
const MAX_CHARACTERS = 8_000;

/** Adds to each answer the tags of the figures, lists and records that it has read, in some forms. */
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
  const ofRoutes = new Set<string>();
  /** The tags of a whole answer; undefined while parts of it are missing. */
  let answerTags: (() => ReturnType<typeof tagsIn>) | undefined;
  return {
    asking:
      (next) =>
      (endpoint, params, ...rest) => {
        ofRoutes.add(routeTag(endpoint.route, makeCall(endpoint, params).target));
        return next(endpoint, params, ...rest);
      },
    onNames: (route) => void ofRoutes.add(routeTag(route, route)),
    headers(context) {
      const headers = new Map<string, string>();
      const tags = (answerTags?.() ?? tagsIn(context, ofRoutes)).all;
      if (tags.length === 0) return headers;
      if (forms.includes('cache-tag')) headers.set('cache-tag', joined(tags, ','));
      if (forms.includes('surrogate-key')) headers.set('surrogate-key', joined(tags, ' '));
      return headers;
    },
    extensions(context) {
      answerTags = once(() => tagsIn(context, ofRoutes));
      if (!forms.includes('apollo')) return {};
      const tags = answerTags();
      return entities === null
        ? { apolloCacheTags: tags.all }
        : { apolloEntityCacheTags: entities.map(tags.ofEntity) };
    },
  };
}

/** Too many tags for a header give way to the one that stands for all. */
function joined(tags: readonly string[], by: string): string {
  const text = tags.join(by);
  return text.length > MAX_CHARACTERS ? ALL_FIGURES : text;
}

/**
 * The tags of all figures that an operation has asked for, those that there are none of included: sorted, and told apart in
 * one pass by their country and their indicator. Which lists and records an entity is of, nothing tells: it has the tags of
 * all of them.
 */
function tagsIn({ loaders }: GraphContext, ofRoutes: ReadonlySet<string>) {
  const all = new Set(ofRoutes);
  const byCountry = new Map<string, Set<string>>();
  const byIndicator = new Map<string, Set<string>>();
  for (const [name, outcome] of loaders.observations.came()) {
    if (outcome instanceof Error) continue;
    const { countryCode, metricKey } = pairOfName(name);
    const sources = new Set(outcome.map(({ source }) => source));
    const tags = [`country-${countryCode}`, indicatorTag(metricKey), ...Array.from(sources, sourceTag)];
    for (const set of [all, setIn(byCountry, countryCode), setIn(byIndicator, metricKey)])
      for (const tag of tags) set.add(tag);
  }
  const sorted = (tags: Iterable<string> = []) => [...new Set([...ofRoutes, ...tags])].sort();
  const everything = sorted(all);
  return {
    all: everything,
    /** Returns the tags of a country or an indicator; of any other entity, all. */
    ofEntity(entity: unknown): readonly string[] {
      const { __typename: type, code, key } = isObject(entity) ? entity : {};
      if (type === 'Country' && typeof code === 'string') return sorted(byCountry.get(code.toUpperCase()));
      if (type === 'Indicator' && typeof key === 'string') return sorted(byIndicator.get(key));
      return everything;
    },
  };
}

function setIn(sets: Map<string, Set<string>>, name: string): Set<string> {
  const set = sets.get(name) ?? new Set();
  sets.set(name, set);
  return set;
}
