import type { Core, Sent } from './core.ts';
import type { DocumentNode } from './nodes.ts';

/** An operation of Apollo Client, as far as a link sees it. */
export interface Operation {
  readonly query: object;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly operationName?: string | undefined;
  readonly extensions?: Readonly<Record<string, unknown>>;
  // biome-ignore lint/suspicious/noExplicitAny: each version has a type of its own
  getContext(): any;
}

interface Observer {
  next?(value: unknown): void;
  error?(error: unknown): void;
  complete?(): void;
}

interface Subscribable {
  subscribe(observer: Observer): { unsubscribe(): void };
}

/** `Observable` of Apollo Client. */
// biome-ignore lint/suspicious/noExplicitAny: each version has a type of its own
type ObservableClass = new (subscriber: (observer: any) => () => void) => any;

/**
 * A request handler, for `new ApolloLink(…)`: before the link that sends, and after one that sets `Authorization`. Without that
 * header in the context, it passes operations on. A context with `figures: 'reload'` has all figures asked for.
 */
export function linkOf({ answer }: Core, Observable: ObservableClass) {
  // biome-ignore lint/suspicious/noExplicitAny: as above
  return (operation: Operation, forward: (operation: any) => any): any =>
    new Observable((observer: Required<Observer>) => {
      let current: { unsubscribe(): void } | null = null;
      let isOver = false;
      const watch = (one: Operation, to: Observer) => {
        if (!isOver) current = (forward(one) as Subscribable).subscribe(to);
      };
      const passOn = () => watch(operation, observer);

      /** Resolves to the only result of an operation. */
      const send = (query: DocumentNode, variables: object) =>
        new Promise<Sent & { readonly result: object }>((resolve, reject) => {
          watch(Object.assign(Object.create(operation), { query, variables }), {
            next(result) {
              const response = operation.getContext().response as Response | undefined;
              const cacheControl = response?.headers?.get('cache-control') ?? null;
              resolve({ body: result as Sent['body'], cacheControl, result: result as object });
            },
            error: reject,
            complete: () => reject(new Error('No result.')),
          });
        });

      const { headers = {}, figures } = operation.getContext();
      const key = new Headers(headers).get('authorization');
      const { query, variables, operationName } = operation;
      const asked = { document: query as DocumentNode, variables, operationName, key: key ?? '' };
      const found = key === null ? Promise.resolve(null) : answer(asked, send, figures !== 'reload');
      found.then(
        (answered) => {
          if (isOver) return;
          if (answered === null) return passOn();
          observer.next(answered.body === answered.sent?.body ? answered.sent.result : answered.body);
          observer.complete();
        },
        (error: unknown) => observer.error(error),
      );
      return () => {
        isOver = true;
        current?.unsubscribe();
      };
    });
}
