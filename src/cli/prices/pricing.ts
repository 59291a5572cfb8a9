import type { CommandHost } from '../../gateway/plugin.ts';
import { sampleVariables } from '../../graphql/cost/samples.ts';
import {
  type Explained,
  explained,
  ownRequest,
  PRICING_KEY,
  priceIn,
} from '../../graphql/request/own-requests.ts';
import { wholeBody } from '../../graphql/request/responses.ts';
import { CommandError } from '../formats.ts';
import { type OwnGatewayParts, openOwnGateway } from '../own-gateway.ts';
import type { Prices } from './price-file.ts';
import type { ProjectOperation } from './project-operations.ts';

type Gateway = Awaited<ReturnType<typeof openOwnGateway>>;

/** Variables by the names of operations. */
export type VariablesByName = Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;

/** Calls that an operation may have, to be priced. */
const MOST_CALLS = 1_000;

/** Prices operations by gateways of its own, over the embedded sandbox. */
export class Pricing {
  readonly #parts: OwnGatewayParts;
  readonly #url: string;
  /** That of the sandbox, so that something can be cached under it. */
  readonly #key: string;
  readonly #variables: VariablesByName;

  constructor(
    { config, ...parts }: OwnGatewayParts,
    { url, keys }: Awaited<ReturnType<CommandHost['openSandbox']>>,
    variables: VariablesByName,
  ) {
    this.#parts = { ...parts, config: { ...config, cacheUrl: 'memory:', maxUpstreamCalls: MOST_CALLS } };
    this.#url = url;
    this.#key = `Bearer ${keys.team}`;
    this.#variables = variables;
  }

  /** @throws CommandError if one would be refused */
  pricesOf(operations: readonly ProjectOperation[]): Promise<Prices['operations']> {
    return this.#withGateway(async (gateway) => {
      const priced: [ProjectOperation, Explained][] = [];
      for (const operation of operations)
        priced.push([operation, await this.#priceOf(operation, gateway, PRICING_KEY)]);
      await this.#run({ query: '{ countries { code } indicators { key } sources { key } }' }, gateway);
      const prices: Prices['operations'] = {};
      for (const [operation, { calls: cold, byRoute }] of priced) {
        const { calls: warm } = await this.#priceOf(operation, gateway, this.#key);
        prices[operation.name] = { file: operation.file, cold, warm, byRoute };
      }
      return prices;
    });
  }

  /** Prices operations that are sent one after the other: each finds cached what those before it have fetched. */
  visitOf(operations: readonly ProjectOperation[]): Promise<Prices['visits'][number]> {
    return this.#withGateway(async (gateway) => {
      const each: number[] = [];
      for (const operation of operations) {
        each.push((await this.#priceOf(operation, gateway, this.#key)).calls);
        await this.#run(this.#questionOf(operation, gateway), gateway);
      }
      const calls = each.reduce((sum, some) => sum + some, 0);
      return { operations: operations.map(({ name }) => name), each, calls };
    });
  }

  /** Finds the field that takes most of the calls beyond a number; null if none can be told. */
  fieldBeyond(calls: number, operation: ProjectOperation) {
    return this.#withGateway(
      async (gateway) => {
        const { errors } = await this.#explain(operation, gateway, PRICING_KEY);
        const { field, route } = errors[0]?.extensions ?? {};
        return typeof field === 'string' && typeof route === 'string' ? { field, route } : null;
      },
      Math.max(1, calls),
    );
  }

  async #withGateway<Result>(
    work: (gateway: Gateway) => Promise<Result>,
    maxUpstreamCalls = MOST_CALLS,
  ): Promise<Result> {
    const { config } = this.#parts;
    const gateway = await openOwnGateway(
      { ...this.#parts, config: { ...config, maxUpstreamCalls } },
      this.#url,
    );
    try {
      return await work(gateway);
    } finally {
      await gateway.stop();
    }
  }

  #questionOf({ name, text, definition }: ProjectOperation, { schema }: Gateway) {
    return { query: text, variables: { ...sampleVariables(schema, definition), ...this.#variables[name] } };
  }

  #explain(operation: ProjectOperation, gateway: Gateway, authorization: string) {
    return explained(gateway.handle, this.#questionOf(operation, gateway), { headers: { authorization } });
  }

  async #priceOf(operation: ProjectOperation, gateway: Gateway, authorization: string) {
    const reply = await this.#explain(operation, gateway, authorization);
    const price = priceIn(reply);
    if (price !== null) return price;
    const reasons = reply.errors.map(({ message }) => message).join(' ');
    throw new CommandError(`${operation.name} (${operation.file}) has no price: ${reasons}`);
  }

  async #run(question: object, { handle }: Gateway): Promise<void> {
    await wholeBody((await handle(ownRequest(question, { headers: { authorization: this.#key } }))).body);
  }
}
