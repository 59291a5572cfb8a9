import { setTimeout as pause } from 'node:timers/promises';
import { createClient as createSse } from 'graphql-sse';
import { createClient as createWs } from 'graphql-ws';
import { WebSocket } from 'ws';
import { METRIC } from './service.ts';

const QUERY = `subscription ($codes: [CountryCode!], $keys: [String!]) {
  observationsChanged(countryCodes: $codes, metricKeys: $keys, latest: true, since: "0") {
    changes { kind formerId observation { id value country { code } } }
    isWhole
    revision
  }
}`;

/** Milliseconds that a client waits before it reconnects. */
const RETRY_MS = 200;

export interface SubscriberParts {
  readonly transport: 'ws' | 'sse';
  readonly key: string;
  readonly codes: readonly string[];
  /** Called for each connection. */
  readonly url: () => string;
}

interface Event {
  readonly changes: readonly {
    readonly kind: 'ADDED' | 'REVISED' | 'REMOVED';
    readonly formerId: string | null;
    readonly observation: {
      readonly id: string;
      readonly value: number;
      readonly country: { readonly code: string };
    };
  }[];
  readonly isWhole: boolean;
  readonly revision: string;
}

/** A client with the library of a transport, and the figures that all its events add up to. */
export class Subscriber {
  readonly codes: readonly string[];
  /** Figures by identifier. */
  readonly #figures = new Map<string, { readonly code: string; readonly value: number }>();
  /** Values of the first country, in the order in which they were received. */
  readonly received: number[] = [];
  readonly problems: string[] = [];
  /** Events with all figures: one for each connection. */
  wholes = 0;
  #revision = '';
  readonly #stop: () => void;

  constructor({ transport, key, codes, url }: SubscriberParts) {
    this.codes = codes;
    const authorization = `Bearer ${key}`;
    const asked = { query: QUERY, variables: { codes, keys: [METRIC] } };
    const sink = {
      next: (result: { data?: unknown; errors?: unknown }) => this.#take(result),
      error: (error: unknown) => void this.problems.push(`ended: ${JSON.stringify(error)} ${String(error)}`),
      complete: () => void this.problems.push('completed'),
    };
    const retries = { retryAttempts: 1_000 };
    if (transport === 'ws') {
      const client = createWs({
        ...retries,
        url: () => url().replace('http', 'ws'),
        webSocketImpl: WebSocket,
        retryWait: () => pause(RETRY_MS),
        shouldRetry: () => true,
        connectionParams: { authorization },
      });
      client.subscribe(asked, sink as never);
      this.#stop = () => void Promise.resolve(client.dispose()).catch(() => {});
    } else {
      const client = createSse({
        ...retries,
        url: () => `${url()}/stream`,
        retry: () => pause(RETRY_MS),
        headers: { authorization },
      });
      client.subscribe(asked, sink as never);
      this.#stop = () => client.dispose();
    }
  }

  /** Values by country. */
  figures(): ReadonlyMap<string, number> {
    return new Map([...this.#figures.values()].map(({ code, value }) => [code, value]));
  }

  has(figures: ReadonlyMap<string, number>): boolean {
    const current = this.figures();
    return (
      current.size === this.codes.length &&
      this.codes.every((code) => current.get(code) === figures.get(code))
    );
  }

  stop(): void {
    this.#stop();
  }

  #take({ data, errors }: { data?: unknown; errors?: unknown }): void {
    const event = (data as { observationsChanged: Event | null } | null)?.observationsChanged;
    if (errors !== undefined || event == null) {
      this.problems.push(`errors: ${JSON.stringify(errors)}`);
      return;
    }
    if (event.isWhole) {
      this.wholes += 1;
      this.#figures.clear();
    } else if (event.revision <= this.#revision) {
      this.problems.push(`a revision out of order: ${event.revision} after ${this.#revision}`);
    }
    this.#revision = event.revision;
    for (const { kind, observation, formerId } of event.changes) {
      if (formerId !== null && !this.#figures.delete(formerId))
        this.problems.push(`a change of an unknown figure: ${formerId}`);
      if (kind === 'REMOVED') continue;
      const { id, value, country } = observation;
      this.#figures.set(id, { code: country.code, value });
      if (country.code === this.codes[0]) this.received.push(value);
    }
  }
}
