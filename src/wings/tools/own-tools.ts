import { hash, randomUUID } from 'node:crypto';
import type { Tool } from '@modelcontextprotocol/server';
import { type GraphQLSchema, isObjectType } from 'graphql';
import { LRUCache } from 'lru-cache';
import { Flow } from '../../async/turns.ts';
import { Failure } from '../../errors.ts';
import { plain } from '../../resolvers/indicators.ts';
import { joinedPurse, type Purse } from '../../service/call.ts';

/** Fields that one search lists. */
const MOST_FIELDS = 12;

/** Characters of a description that a search lists. */
const MAX_WORDS = 300;

const text = (description: string) => ({ type: 'string', description });

/** Tools that the gateway has beside those of documents. */
export const OWN_TOOLS = {
  search: {
    name: 'search',
    description:
      'Finds fields of the graph, and indicators of the catalogue, that have all of some words. Fields cost nothing; indicators take one call to the metered service where the catalogue is not held.',
    inputSchema: {
      type: 'object',
      properties: {
        words: text('Words, such as `child mortality`.'),
        in: {
          type: 'string',
          enum: ['FIELDS', 'INDICATORS'],
          description: 'One of both; left out for both.',
        },
      },
      required: ['words'],
      additionalProperties: false,
    },
  },
  price: {
    name: 'price',
    description:
      'Tells what another tool would cost with some arguments, in calls to the metered service, as things are held at the moment. Costs nothing.',
    inputSchema: {
      type: 'object',
      properties: {
        tool: text('Name of the tool.'),
        arguments: text('Its arguments, as the text of a JSON object; left out for none.'),
      },
      required: ['tool'],
      additionalProperties: false,
    },
  },
} as const satisfies Record<string, Omit<Tool, 'outputSchema'>>;

/** A field that a search has found. */
interface FoundField {
  readonly field: string;
  readonly type: string;
  readonly description: string;
}

interface SearchedField extends FoundField {
  /** The words that it is found by. */
  readonly name: string;
  readonly all: string;
}

/** Lists the fields of a schema that have all of some words in their names or descriptions; names come first. */
export class FieldSearch {
  readonly #schema: GraphQLSchema;
  #fields: readonly SearchedField[] | undefined;

  constructor(schema: GraphQLSchema) {
    this.#schema = schema;
  }

  find(words: string): readonly FoundField[] {
    const wanted = plain(words).split(/\s+/).filter(Boolean);
    this.#fields ??= this.#read();
    const isIn = (place: string) => (word: string) => place.includes(word);
    return this.#fields
      .filter(({ all }) => wanted.length > 0 && wanted.every(isIn(all)))
      .map((found) => ({ found, rank: wanted.filter(isIn(found.name)).length }))
      .toSorted((a, b) => b.rank - a.rank)
      .slice(0, MOST_FIELDS)
      .map(({ found: { field, type, description } }) => ({ field, type, description }));
  }

  #read(): readonly SearchedField[] {
    const types = Object.values(this.#schema.getTypeMap()).filter(isObjectType);
    return types
      .filter(({ name }) => !name.startsWith('_'))
      .flatMap((type) =>
        Object.values(type.getFields()).map((field) => {
          const given = field.args.map(({ name, type }) => `${name}: ${type}`).join(', ');
          const description = (field.description ?? '').replaceAll(/\s+/g, ' ').slice(0, MAX_WORDS);
          const name = plain(
            `${type.name}.${field.name} ${type.name}${field.name}`.replaceAll(/([A-Z])/g, ' $1'),
          );
          return {
            field: `${type.name}.${field.name}${given === '' ? '' : `(${given})`}`,
            type: String(field.type),
            description,
            name,
            all: plain(`${name} ${type.name}.${field.name} ${given} ${field.description ?? ''}`),
          };
        }),
      );
  }
}

const HOUR_MS = 3_600_000;

/** Keys whose budgets are known at once. */
const MAX_KEYS = 10_000;

/** Calls of a budget that were sent in an hour. */
interface Spending {
  readonly hour: number;
  readonly flow: Flow;
  spent: number;
}

/** A budget as clients are told of it. */
export interface ToldBudget {
  readonly limit: number;
  readonly spent: number;
  /** Null for the one of a session. */
  readonly resetsAt: string | null;
}

/**
 * Budgets of calls that tools may send: by key and hour, since requests have no session over HTTP, or else one for a
 * session that lasts as long as the process. Each call is taken before it leaves, so that not one too many does.
 */
export class ToolBudgets {
  readonly limit: number;
  readonly #isSession: boolean;
  readonly #now: () => number;
  readonly #spendings = new LRUCache<string, Spending>({ max: MAX_KEYS });

  constructor(limit: number, isSession: boolean, now: () => number = Date.now) {
    this.limit = limit;
    this.#isSession = isSession;
    this.#now = now;
  }

  /** Opens the budget of a key. */
  purseOf(authorization: string): Purse {
    const spending = this.#of(authorization);
    return {
      name: `tools of ${this.#nameOf(authorization)}`,
      flow: spending.flow,
      take: () => {
        if (spending.spent >= this.limit) throw this.refusalOf(authorization);
        spending.spent += 1;
        return () => {
          spending.spent -= 1;
        };
      },
    };
  }

  /** Makes the failure of a call, or of an operation of so many, for which too few are left. */
  refusalOf(authorization: string, planned = 1): Failure {
    const { limit, spent, resetsAt } = this.told(authorization);
    const left = limit - spent;
    const message = `This takes ${planned} more call(s), and ${left} are left of the ${limit} that tools may send (MCP_BUDGET); nothing was sent for it.`;
    const reset = resetsAt === null ? {} : { resetsAt };
    return new Failure('OPERATION_TOO_EXPENSIVE', message, { planned, limit: left, ...reset });
  }

  told(authorization: string): ToldBudget {
    const { spent, hour } = this.#of(authorization);
    const resetsAt = this.#isSession ? null : new Date((hour + 1) * HOUR_MS).toISOString();
    return { limit: this.limit, spent, resetsAt };
  }

  #nameOf(authorization: string): string {
    return this.#isSession ? '' : hash('sha256', authorization);
  }

  #of(authorization: string): Spending {
    const hour = this.#isSession ? 0 : Math.floor(this.#now() / HOUR_MS);
    const name = this.#nameOf(authorization);
    const known = this.#spendings.get(name);
    if (known?.hour === hour) return known;
    const fresh = { hour, flow: known?.flow ?? new Flow(), spent: 0 };
    this.#spendings.set(name, fresh);
    return fresh;
  }
}

/** Bounds the calls of one request. Its name is its own: what it is refused is told to nobody else. */
export function boundedPurse(maxCalls: number, purse: Purse | null): Purse {
  let taken = 0;
  const take = () => {
    if (taken >= maxCalls) throw beyondRequest(1, maxCalls);
    taken += 1;
    return () => {
      taken -= 1;
    };
  };
  const name = randomUUID();
  return purse === null ? { name, flow: new Flow(), take } : joinedPurse(name, take, purse);
}

export function beyondRequest(planned: number, maxCalls: number): Failure {
  const message = `This takes ${planned} more call(s) than the ${maxCalls} that the request allows (${MAX_CALLS_KEY}).`;
  return new Failure('OPERATION_TOO_EXPENSIVE', message, { planned, limit: maxCalls });
}

/** Key of `_meta` by which a client says how many calls to the service a request may take. */
export const MAX_CALLS_KEY = 'country-graph/maxCalls';
