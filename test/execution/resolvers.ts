import {
  GraphQLError,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNullableType,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  type ResponsePath,
} from 'graphql';
import { toError } from 'graphql/jsutils/toError.js';
import type { BatchInfo } from '../../src/graphql/execution/plan.ts';
import { Dice, mix, seedOf } from './dice.ts';
import { drawLeaf } from './leaf-values.ts';

/** Source of the values of one run: the same for both executors. */
export interface Draws {
  readonly seed: number;
  /** Share of values that are at fault. */
  readonly faultRate: number;
  /** True if lists of the root are thousands of items long. */
  readonly isLong: boolean;
  /**
   * True if promises may be dropped: graphql-js does so if a list is lost to one item before it comes to
   * others.
   */
  readonly mayDrop: boolean;
  /** Objects that runs have in common; undefined if each run draws its own. */
  readonly objects?: Map<string, object> | undefined;
  /** Variant of the values that resolvers give, but for lists. */
  readonly change?: number;
  /** Hears the place that each resolver is told. */
  readonly onPath?: ((path: ResponsePath) => void) | undefined;
}

/** An object of any type. Its properties are drawn when they are read, always the same. */
interface Source {
  readonly seed: number;
  readonly depth: number;
}

type SourceClass = new (seed: number, depth: number, draws: Draws) => Source;

/** Draws the value of one field; throws if that is to fail. */
type DrawField = (source: unknown, args: object, draws: Draws) => unknown;

const LONG_LIST = 2000;

const RESOLVERS = ['at once', 'at once', 'later', 'sometimes later', 'batch', 'batch later'] as const;

/** Gives every field of a schema values of its own, by a property or by some sort of resolver. */
export function resolveByDraws(schema: GraphQLSchema, seed: number): void {
  const dice = new Dice(seed);
  const values = new Values(schema);
  for (const type of Object.values(schema.getTypeMap())) {
    if (isAbstractType(type))
      type.resolveType = dice.pick([undefined, typeNameOf, async (value) => typeNameOf(value)]);
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    const properties: PropertyDescriptorMap = { __typename: { value: type.name } };
    for (const field of Object.values(type.getFields())) {
      const place = seedOf(`${type.name}.${field.name}`);
      const isProperty = type !== schema.getQueryType() && dice.chance(0.4);
      if (isProperty) properties[field.name] = values.property(field.type, place);
      const resolver = isProperty
        ? {}
        : tellingPaths(drawnResolver(dice.pick(RESOLVERS), place, values.field(field.type, place)));
      Object.assign(field, { resolve: undefined, extensions: {} }, resolver);
    }
    values.define(type, properties);
  }
}

function typeNameOf(value: unknown): string {
  return (value as { __typename: string }).__typename;
}

class Values {
  readonly #schema: GraphQLSchema;
  readonly #classes = new Map<GraphQLObjectType, SourceClass>();

  constructor(schema: GraphQLSchema) {
    this.#schema = schema;
  }

  define(type: GraphQLObjectType, properties: PropertyDescriptorMap): void {
    class Drawn implements Source {
      readonly seed: number;
      readonly depth: number;
      readonly draws: Draws;

      constructor(seed: number, depth: number, draws: Draws) {
        this.seed = seed;
        this.depth = depth;
        this.draws = draws;
      }
    }
    Object.defineProperties(Drawn.prototype, properties);
    this.#classes.set(type, Drawn);
  }

  property(type: GraphQLOutputType, place: number): PropertyDescriptor {
    const draw = (source: Source, draws: Draws) => {
      const dice = new Dice(mix(place, draws.seed, source.seed));
      // A leaf is read as it is written, when nothing is waited for any longer.
      const isLate = !isLeafType(getNullableType(type)) && dice.chance(0.1);
      const value = () => this.#draw(type, dice, source.depth, draws);
      return isLate ? later(value, source.seed, draws) : value();
    };
    return {
      get(this: Source & { readonly draws: Draws }) {
        return draw(this, this.draws);
      },
    };
  }

  field(type: GraphQLOutputType, place: number): DrawField {
    return (source, args, draws) => {
      const { seed = 0, depth = 0 } = (source ?? {}) as Partial<Source>;
      const change = isListType(getNullableType(type)) ? 0 : (draws.change ?? 0);
      const dice = new Dice(mix(place, draws.seed + change, seed, seedOf(JSON.stringify(args))));
      if (dice.chance(draws.faultRate / 2)) throw drawThrown(dice);
      return this.#draw(type, dice, depth, draws);
    };
  }

  #draw(type: GraphQLOutputType, dice: Dice, depth: number, draws: Draws): unknown {
    if (dice.chance(draws.faultRate / 2)) return dice.chance(0.5) ? drawError(dice) : null;
    if (!isNonNullType(type) && dice.chance(0.1)) return dice.pick([null, undefined]);
    const nullable = getNullableType(type);
    if (isLeafType(nullable)) return drawLeaf(nullable, dice, draws.faultRate);
    if (isListType(nullable)) return this.#drawList(nullable.ofType, dice, depth, draws);
    if (isAbstractType(nullable)) {
      return this.#drawObject(dice.pick(this.#schema.getPossibleTypes(nullable)), dice, depth, draws);
    }
    if (dice.chance(draws.faultRate / 4)) return dice.pick(['text', 5, true, {}, []]);
    return this.#drawObject(nullable as GraphQLObjectType, dice, depth, draws);
  }

  #drawObject(type: GraphQLObjectType, dice: Dice, depth: number, draws: Draws): Source {
    const Drawn = this.#classes.get(type) as SourceClass;
    const seed = dice.below(2 ** 31);
    const name = `${type.name}/${seed}/${depth}`;
    const object = (draws.objects?.get(name) as Source | undefined) ?? new Drawn(seed, depth + 1, draws);
    draws.objects?.set(name, object);
    return object;
  }

  #drawList(itemType: GraphQLOutputType, dice: Dice, depth: number, draws: Draws): unknown {
    if (dice.chance(draws.faultRate / 4)) return dice.pick(['text', 5, true, {}, new Date(0)]);
    const isLong = draws.isLong && depth === 0 && !isListType(getNullableType(itemType));
    const length = isLong ? LONG_LIST : dice.below(draws.isLong ? 2 : Math.max(2, 5 - depth));
    const hasPromises = dice.chance(0.15);
    const items = Array.from({ length }, () => {
      const own = new Dice(dice.below(2 ** 31));
      const draw = () => {
        if (hasPromises && own.chance(draws.faultRate)) throw drawThrown(own);
        return this.#draw(itemType, own, depth, draws);
      };
      return hasPromises && dice.chance(0.7)
        ? later(draw, dice.below(2 ** 31), draws)
        : this.#draw(itemType, own, depth, draws);
    });
    const isPlain = !hasPromises && !isListType(getNullableType(itemType));
    return isPlain && dice.chance(0.05) ? new Set(items) : items;
  }
}

type DrawFields = (sources: readonly unknown[], args: object, draws: Draws) => unknown;

interface Resolver {
  readonly resolve: DrawField;
  readonly extensions?: { readonly batch: DrawFields };
}

/** Has a resolver read its path, and a batch those of all of its parents once it has given its values. */
function tellingPaths({ resolve, extensions }: Resolver): object {
  const telling = (source: unknown, args: object, draws: Draws, info: BatchInfo) => {
    draws.onPath?.(info.path);
    return resolve(source, args, draws);
  };
  if (extensions === undefined) return { resolve: telling };
  const batch = (sources: readonly unknown[], args: object, draws: Draws, info: BatchInfo) => {
    const tell = () => sources.forEach((_, parent) => void draws.onPath?.(info.pathOf(parent)));
    const given = extensions.batch(sources, args, draws);
    if (given instanceof Promise) given.finally(tell).catch(() => {});
    else tell();
    return given;
  };
  return { resolve: telling, extensions: { batch } };
}

/** A resolver, and one that does the same for many objects. */
function drawnResolver(by: (typeof RESOLVERS)[number], place: number, draw: DrawField): Resolver {
  if (by === 'at once') return { resolve: draw };
  const seedFor = (source: unknown) => (source as Partial<Source> | undefined)?.seed ?? place;
  const resolveLater: DrawField = (source, args, draws) =>
    later(() => draw(source, args, draws), seedFor(source), draws);
  if (by === 'later') return { resolve: resolveLater };
  if (by === 'sometimes later') {
    const resolve: DrawField = (...given) => (seedFor(given[0]) % 2 === 0 ? draw : resolveLater)(...given);
    return { resolve };
  }
  const failTogether = (args: object, draws: Draws) => {
    const dice = new Dice(mix(place, draws.seed, seedOf(JSON.stringify(args))));
    if (dice.chance(draws.faultRate / 4)) throw drawThrown(dice);
  };
  const drawOne: DrawField = (source, args, draws) => {
    failTogether(args, draws);
    return draw(source, args, draws);
  };
  const drawAll = (sources: readonly unknown[], args: object, draws: Draws): unknown[] => {
    failTogether(args, draws);
    return sources.map((source) => {
      try {
        return draw(source, args, draws);
      } catch (thrown) {
        return toError(thrown);
      }
    });
  };
  if (by === 'batch') return { resolve: drawOne, extensions: { batch: drawAll } };
  const resolve: DrawField = (source, args, draws) => later(() => drawOne(source, args, draws), place, draws);
  const batch = (sources: readonly unknown[], args: object, draws: Draws) =>
    later(() => drawAll(sources, args, draws), place, draws);
  return { resolve, extensions: { batch } };
}

/** Settles after a few turns, so that promises settle in an order of their own. */
function later(draw: () => unknown, seed: number, { mayDrop }: Draws): Promise<unknown> {
  const promise = turns(seed).then(draw);
  if (mayDrop) promise.catch(() => {});
  return promise;
}

async function turns(seed: number): Promise<void> {
  if (seed % 61 === 0) await new Promise((resolve) => setImmediate(resolve));
  for (let turn = seed % 5; turn > 0; turn -= 1) await null;
}

function drawError(dice: Dice): Error {
  return dice.pick([
    () => new Error('Broken.'),
    () => new TypeError(`Broken "${dice.below(10)}".`),
    () => new GraphQLError('Refused.', { extensions: { code: 'REFUSED' } }),
  ])();
}

function drawThrown(dice: Dice): unknown {
  return dice.chance(0.8)
    ? drawError(dice)
    : dice.pick(['text', 5, null, undefined, { a: 1 }, [1n], Symbol('thrown')]);
}
