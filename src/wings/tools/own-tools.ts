import { hash, randomUUID } from 'node:crypto';
import type { Tool } from '@modelcontextprotocol/server';
import { type GraphQLSchema, isObjectType } from 'graphql';
import { LRUCache } from 'lru-cache';
import { Flow } from '../../async/turns.ts';
import { Failure } from '../../errors.ts';
import { joinedPurse, type Purse } from '../../service/call.ts';
import { CountedPurse } from '../issued/key-purse.ts';
import type { Count, KeyStore } from '../issued/key-store.ts';
import { plain } from '../resolvers/lists.ts';

const MOST_FIELDS = 12;

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

/** Lists the fields of a schema that have all of some words in their names or descriptions; names come first. */
export function createFieldSearch(schema: GraphQLSchema) {
  let fields: ReturnType<typeof fieldsOf> | undefined;
  return (words: string) => {
    const wanted = plain(words).split(/\s+/).filter(Boolean);
    fields ??= fieldsOf(schema);
    const isIn = (place: string) => (word: string) => place.includes(word);
    return fields
      .filter(({ all }) => wanted.length > 0 && wanted.every(isIn(all)))
      .map(({ told, name }) => ({ told, rank: wanted.filter(isIn(name)).length }))
      .toSorted((a, b) => b.rank - a.rank)
      .slice(0, MOST_FIELDS)
      .map(({ told }) => told);
  };
}

/** Returns the fields as they are told, with the words that they are found by. */
function fieldsOf(schema: GraphQLSchema) {
  const types = Object.values(schema.getTypeMap()).filter(isObjectType);
  return types
    .filter(({ name }) => !name.startsWith('_'))
    .flatMap((type) =>
      Object.values(type.getFields()).map((field) => {
        const given = field.args.map(({ name, type }) => `${name}: ${type}`).join(', ');
        const words = `${type.name}.${field.name} ${type.name}${field.name}`;
        const name = plain(words.replaceAll(/([A-Z])/g, ' $1'));
        return {
          told: {
            field: `${type.name}.${field.name}${given === '' ? '' : `(${given})`}`,
            type: String(field.type),
            description: (field.description ?? '').replaceAll(/\s+/g, ' ').slice(0, MAX_WORDS),
          },
          name,
          all: plain(`${name} ${type.name}.${field.name} ${given} ${field.description ?? ''}`),
        };
      }),
    );
}

const HOUR_MS = 3_600_000;
const YEAR_MS = 366 * 24 * HOUR_MS;

const MAX_KEYS = 10_000;

/** A budget as clients are told of it. */
interface ToldBudget {
  readonly limit: number;
  readonly spent: number;
  /** Null for the one of a session. */
  readonly resetsAt: string | null;
}

/**
 * Budgets of calls that tools may send: by key and hour, since requests have no session over HTTP, or else one for a
 * session that lasts as long as the process. Each call is taken before it leaves, so that not one too many does, of all
 * gateways that share the store.
 */
export class ToolBudgets {
  readonly limit: number;
  readonly #store: KeyStore;
  readonly #isSession: boolean;
  readonly #now: () => number;
  readonly #purses = new LRUCache<string, ToolPurse>({ max: MAX_KEYS });

  constructor(limit: number, store: KeyStore, isSession: boolean, now: () => number = Date.now) {
    this.limit = limit;
    this.#store = store;
    this.#isSession = isSession;
    this.#now = now;
  }

  purseOf(authorization: string): ToolPurse {
    const name = this.#nameOf(authorization);
    const purse =
      this.#purses.get(name) ?? new ToolPurse(name, this.limit, this.#store, this.#now, this.#isSession);
    this.#purses.set(name, purse);
    return purse;
  }

  #nameOf(authorization: string): string {
    return this.#isSession ? 'session' : hash('sha256', authorization);
  }
}

class ToolPurse extends CountedPurse {
  readonly #limit: number;
  readonly #now: () => number;
  readonly #isSession: boolean;

  constructor(name: string, limit: number, store: KeyStore, now: () => number, isSession: boolean) {
    super(`tools of ${name}`, store, now);
    this.#limit = limit;
    this.#now = now;
    this.#isSession = isSession;
  }

  /** Tells the calls that are spent. @throws Failure if the store can't be reached */
  async told(): Promise<ToldBudget> {
    const nowMs = this.#now();
    const [spent = 0] = await this.read(this.countsAt(nowMs));
    return { limit: this.#limit, spent, resetsAt: this.#resetsAt(nowMs) };
  }

  protected override countsAt(nowMs: number): readonly Count[] {
    const hour = this.#isSession ? 0 : Math.floor(nowMs / HOUR_MS);
    return [
      { name: `${this.name}:${hour}`, most: this.#limit, keptMs: this.#isSession ? YEAR_MS : 2 * HOUR_MS },
    ];
  }

  protected override spent(_count: Count, nowMs: number): Failure {
    return beyondBudget({ limit: this.#limit, spent: this.#limit, resetsAt: this.#resetsAt(nowMs) }, 1);
  }

  #resetsAt(nowMs: number): string | null {
    return this.#isSession ? null : new Date((Math.floor(nowMs / HOUR_MS) + 1) * HOUR_MS).toISOString();
  }
}

/** Makes the failure of an operation of so many calls, for which too few are left. */
export function beyondBudget({ limit, spent, resetsAt }: ToldBudget, planned: number): Failure {
  const left = limit - spent;
  const message = `This takes ${planned} more call(s), and ${left} are left of the ${limit} that tools may send (MCP_BUDGET); nothing was sent for it.`;
  const reset = resetsAt === null ? {} : { resetsAt };
  return new Failure('OPERATION_TOO_EXPENSIVE', message, { planned, limit: left, ...reset });
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
