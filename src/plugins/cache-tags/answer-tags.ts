import {
  type Additions,
  type AnswerReads,
  type HandleOperation,
  isObject,
  once,
} from '../../plugin/index.ts';
import { ALL_FIGURES, indicatorTag, routeTag, sourceTag } from './tags.ts';

type Form = 'cache-tag' | 'surrogate-key' | 'apollo';

/** Characters of both headers together: servers and CDNs take 8,190 for a line, and some 16,000 for all of them. */
const MAX_CHARACTERS = 8_000;

/** Headers, and what stands between their tags. */
const NAMES = [
  ['cache-tag', ','],
  ['surrogate-key', ' '],
] as const;

/** Adds to each answer the tags of the figures, lists and records that it was made of. */
export function tagging(forms: readonly Form[]): (next: HandleOperation) => HandleOperation {
  return (next) => (operation) =>
    next(operation.adding(additionsOf(forms, entitiesIn(operation.request.body))));
}

/** Routers send their references in this variable. */
function entitiesIn(body: unknown): readonly unknown[] | null {
  const variables = isObject(body) && isObject(body.variables) ? body.variables : {};
  const { representations } = variables;
  return Array.isArray(representations) ? representations : null;
}

function additionsOf(forms: readonly Form[], entities: readonly unknown[] | null): Additions {
  const ofRoutes = new Set<string>();
  /** Undefined while parts of the answer are missing. */
  let answerTags: (() => ReturnType<typeof tagsIn>) | undefined;
  return {
    onRead: ({ route, target }) => void ofRoutes.add(routeTag(route, target)),
    headers(reads) {
      const headers = new Map<string, string>();
      const tags = (answerTags?.() ?? tagsIn(reads, ofRoutes)).all;
      if (tags.length === 0) return headers;
      const named = NAMES.filter(([name]) => forms.includes(name));
      for (const [name, by] of named) headers.set(name, joined(tags, by, MAX_CHARACTERS / named.length));
      return headers;
    },
    extensions(reads) {
      answerTags = once(() => tagsIn(reads, ofRoutes));
      if (!forms.includes('apollo')) return {};
      const tags = answerTags();
      return entities === null
        ? { apolloCacheTags: tags.all }
        : { apolloEntityCacheTags: entities.map(tags.ofEntity) };
    },
  };
}

/** Replaces too many tags by the one that stands for all figures. */
function joined(tags: readonly string[], by: string, maxCharacters: number): string {
  const text = tags.join(by);
  return text.length > maxCharacters ? ALL_FIGURES : text;
}

/**
 * The sorted tags of all figures that an operation has asked for, absent ones included. It isn't known which lists and
 * records an entity was made of, so it has the tags of them all.
 */
function tagsIn(reads: AnswerReads, ofRoutes: ReadonlySet<string>) {
  const all = new Set(ofRoutes);
  const byCountry = new Map<string, Set<string>>();
  const byIndicator = new Map<string, Set<string>>();
  for (const { countryCode, metricKey, sources } of reads.figures()) {
    const tags = [`country-${countryCode}`, indicatorTag(metricKey), ...sources.map(sourceTag)];
    for (const set of [all, setIn(byCountry, countryCode), setIn(byIndicator, metricKey)])
      for (const tag of tags) set.add(tag);
  }
  const sorted = (tags: Iterable<string> = []) => [...new Set([...ofRoutes, ...tags])].sort();
  const everything = sorted(all);
  return {
    all: everything,
    /** Entities other than countries and indicators have all tags. */
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
