import { type Handle, type Incoming, onceOver } from '../graphql/request/stages.ts';
import type { AbsenceNotes, AnswerAdditions, GraphContext } from '../graphql/schema/context.ts';
import { looksIssued } from '../keys/tenant.ts';
import { pairOfName } from '../observations/planner/demand.ts';
import type { Additions, AnswerReads, HandleOperation, Operation } from '../plugin/operations.ts';
import { makeCall } from '../service/call.ts';
import type { Trace } from '../service/trace.ts';

/** @param header a request header: operations without it as `1` pass by */
export function handleThrough(
  stage: (next: HandleOperation) => HandleOperation,
  header?: string,
): (next: Handle) => Handle {
  return (next) => {
    const handle = stage((operation) => next(OperationView.incomingOf(operation)));
    const handled: Handle = (incoming) => {
      const course = { isOver: false };
      const end = () => {
        course.isOver = true;
      };
      const answered = handle(new OperationView(incoming, course));
      if (answered instanceof Promise) return answered.finally(end);
      end();
      return answered;
    };
    if (header === undefined) return handled;
    return (incoming) =>
      incoming.request.headers[header] === '1' ? handled(apart(incoming, header)) : next(incoming);
  };
}

/** Names the answer for the cache. */
function apart({ plain, ...rest }: Incoming, header: string): Incoming {
  return { ...rest, plain: plain && { ...plain, question: `${header}\n${plain.question}` } };
}

class OperationView implements Operation {
  readonly #incoming: Incoming;
  readonly #course: { readonly isOver: boolean };

  /** @param course of the operation, which all views of it share */
  constructor(incoming: Incoming, course: { readonly isOver: boolean }) {
    this.#incoming = incoming;
    this.#course = course;
  }

  /** @throws TypeError for an object of the plugin's own making, or an operation of a former caller */
  static incomingOf(operation: Operation): Incoming {
    if (!(operation instanceof OperationView))
      throw new TypeError('A plugin hands on the operation that it was given, or one that this has made.');
    if (operation.#course.isOver) throw new TypeError('The operation is over.');
    return operation.#incoming;
  }

  get request() {
    return this.#incoming.request;
  }

  get isIssued() {
    const { exchanged, headers } = this.request;
    return exchanged !== undefined && looksIssued(headers.authorization ?? '');
  }

  adding(additions: Additions): Operation {
    return this.#with({ additions: both(this.#incoming.additions, additionsOf(additions)) });
  }

  noting(absences: AbsenceNotes): Operation {
    return this.#with({ absences });
  }

  traced(trace: Trace): Operation {
    return this.#with({ trace });
  }

  onceOver(listener: () => void): void {
    onceOver(this.#incoming.delivery, listener);
  }

  #with(changes: Partial<Incoming>): Operation {
    return new OperationView({ ...this.#incoming, ...changes }, this.#course);
  }
}

function additionsOf({ onRead, headers, extensions }: Additions): AnswerAdditions {
  return {
    ...(onRead && {
      asking:
        (next) =>
        (endpoint, params, ...rest) => {
          onRead({ route: endpoint.route, target: makeCall(endpoint, params).target });
          return next(endpoint, params, ...rest);
        },
      onNames: (route) => onRead({ route, target: route }),
    }),
    headers: (context) => headers?.(readsOf(context)) ?? new Map(),
    extensions: (context) => extensions?.(readsOf(context)) ?? {},
  };
}

const readsOf = ({ loaders }: GraphContext): AnswerReads => ({
  figures: () =>
    Array.from(loaders.observations.came()).flatMap(([name, outcome]) =>
      outcome instanceof Error
        ? []
        : { ...pairOfName(name), sources: [...new Set(outcome.map(({ source }) => source))] },
    ),
});

/** Those of the outer plugin prevail where both have the same. */
function both(outer: AnswerAdditions | undefined, inner: AnswerAdditions): AnswerAdditions {
  if (outer === undefined) return inner;
  return {
    asking: (ask) => [inner, outer].reduce((next, { asking }) => asking?.(next) ?? next, ask),
    onNames(route) {
      outer.onNames?.(route);
      inner.onNames?.(route);
    },
    headers: (context) => new Map([...inner.headers(context), ...outer.headers(context)]),
    extensions: (context) => ({ ...inner.extensions(context), ...outer.extensions(context) }),
  };
}
