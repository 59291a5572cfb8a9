import type { ClientBill, UpstreamBill } from '../answers.ts';
import { boundOf } from './bound.ts';
import { type Composed, compose, type GraphqlBody, type Path } from './composed.ts';
import { openDisk } from './disk.ts';
import { type Form, formOf } from './forms.ts';
import type { DocumentNode } from './nodes.ts';
import { type Owner, Owners, type Pair, seeNames } from './owners.ts';
import { type Plan, planOf } from './plan.ts';
import { type Instant, type Layer, NO_FIGURES } from './store.ts';
import { orNull } from './understood.ts';
import { figuresIn, narrow, type View, viewOf } from './views.ts';

export interface HoldingOptions {
  /** The gateway's GraphQL address. */
  readonly url: string;
  /** `parse` of `graphql`, for operations that are sent as texts. */
  readonly parse?: (text: string) => object;
  /** `indexedDB`, to hold figures across reloads too. */
  readonly disk?: IDBFactory | undefined;
  /** Most figures that are held, of all keys together; 50,000 if left out. */
  readonly maxFigures?: number;
  readonly seconds?: {
    /** How long figures are held if the gateway sends changes (`SUBSCRIPTIONS=on`), which the page passes on to `revised`. */
    readonly live?: number;
    /** How long past their time figures are shown if the gateway can't be reached. */
    readonly offline?: number;
  };
  readonly clock?: () => Instant;
}

export interface Asked {
  readonly document: DocumentNode;
  readonly operationName?: string | null | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
  /** What the gateway knows the caller by: `Authorization`. */
  readonly key: string;
}

/** A response of the gateway. */
export interface Sent {
  readonly body: GraphqlBody;
  readonly cacheControl: string | null;
}

/** Sends an operation on. @param text of the document; null if that is the caller's */
export type Send<Response extends Sent> = (
  document: DocumentNode,
  variables: Readonly<Record<string, unknown>>,
  text: string | null,
) => Promise<Response>;

export interface Answer<Response> {
  readonly body: GraphqlBody;
  /** Null if nothing was sent. */
  readonly sent: Response | null;
  readonly freshSeconds: number;
}

/** An event of `observationsChanged`, or of `sourceRefreshed`. */
type Event = Readonly<Record<string, unknown>>;

const MAX_FIGURES = 50_000;
/** Codes after which nothing is shown under a key any more. */
const REFUSALS: readonly unknown[] = ['UNAUTHENTICATED', 'FORBIDDEN', 'KEY_EXPIRED', 'ORIGIN_NOT_ALLOWED'];
/** Codes by which a gateway refuses a document that was made here. */
const UNKNOWN_DOCUMENTS: readonly unknown[] = ['DOCUMENT_NOT_ALLOWED', 'GRAPHQL_VALIDATION_FAILED'];

export type Core = ReturnType<typeof createCore>;

export function createCore(options: HoldingOptions) {
  const { url, disk, maxFigures = MAX_FIGURES, seconds = {} } = options;
  const now = options.clock ?? (() => ({ wallMs: Date.now(), steadyMs: performance.now() }));
  const graceMs = (seconds.offline ?? 0) * 1000;
  const owners = new Owners({
    url,
    maxFigures,
    graceMs,
    now,
    disk: disk === undefined ? null : openDisk(disk),
  });
  /** Set once the gateway has refused a document that was made here. */
  let areTextsFixed = false;

  function freshMsOf(cacheControl: string | null): number {
    if (cacheControl?.includes('must-revalidate')) return (seconds.live ?? 0) * 1000;
    return Number(/\bmax-age=(\d+)/.exec(cacheControl ?? '')?.[1] ?? 0) * 1000;
  }

  function hold(owner: Owner, { arrived }: Composed, at: Instant, freshMs: number): void {
    const layers = new Map<string, Layer>();
    for (const { pair, fields, years, rows } of arrived) {
      const segment = { ...years, rows, at, freshMs };
      layers.set(pair, owner.held.put(pair, fields, segment));
      seeNames(owner.held, pair, segment);
    }
    owners.keep(owner, layers);
  }

  function isRefused({ errors = [] }: GraphqlBody, codes: readonly unknown[]): boolean {
    return errors.some(({ extensions }) => codes.includes(extensions?.code));
  }

  /** Null if the operation is to be passed on as it is. @param send rejects if the gateway can't be reached */
  async function answer<Response extends Sent>(
    { document, operationName, variables, key }: Asked,
    send: Send<Response>,
    isHeldUsed = true,
  ): Promise<Answer<Response> | null> {
    const plan = planOf(document);
    if (plan === null || (operationName ?? plan.operationName) !== plan.operationName) return null;
    const roots = boundOf(plan, variables);
    const form = formOf(document, plan, areTextsFixed);
    if (roots === null || form === null) return null;
    const owner = await owners.of(key);
    const { generation, held } = owner;
    const at = now();
    const view = viewOf(roots, isHeldUsed ? held : NO_FIGURES, at);
    if (view.isComplete) return heldAnswer(view, at);
    const values = narrow(view, form, variables);
    let sent: Response;
    try {
      sent = await send(form.document, values, form.text);
    } catch (error) {
      const old = graceMs > 0 && !isAbort(error) ? viewOf(roots, held, now(), graceMs) : null;
      if (old?.isComplete) return heldAnswer(old, now());
      throw error;
    }
    const { body, cacheControl } = sent;
    if (isRefused(body, REFUSALS)) await owners.forget(key);
    const isMade = form.text !== null;
    if (isMade && isRefused(body, UNKNOWN_DOCUMENTS)) areTextsFixed = true;
    if (body.data == null) {
      // The document that was made here may have a field or a level too many.
      const isOther = isMade && isRefused(body, [...UNKNOWN_DOCUMENTS, 'OPERATION_TOO_EXPENSIVE']);
      return isOther ? null : { body, sent, freshSeconds: 0 };
    }
    const composed = composedOf(view, form, body);
    if (composed === null) {
      const whole = await send(document, variables, null);
      if (isRefused(whole.body, REFUSALS)) await owners.forget(key);
      return { body: billedWith(body, whole.body), sent: whole, freshSeconds: 0 };
    }
    const freshMs = freshMsOf(cacheControl);
    const isWhole = body.errors === undefined && body.extensions?.warnings === undefined && freshMs > 0;
    if (isWhole && owner.generation === generation) hold(owner, composed, at, freshMs);
    const whole = isWhole ? Math.min(view.freshMs, freshMs) : 0;
    return {
      body: placed(body, composed, isMade ? plan.locations : null),
      sent,
      freshSeconds: Math.floor(whole / 1000),
    };
  }

  return {
    answer,
    forget: (key?: string) => owners.forget(key),
    revised: (event: unknown) => owners.revised(pairsIn((event ?? {}) as Event)),
    written: () => owners.written(),
    close: () => owners.close(),
  };
}

const isAbort = (error: unknown) => (error as { name?: unknown } | null)?.name === 'AbortError';

function heldAnswer(view: View, at: Instant): Answer<never> {
  const { data, held } = compose(view, null, {});
  const staleMs = Math.max(0, ...view.ats.map(({ wallMs }) => at.wallMs - wallMs));
  const client: ClientBill = {
    held,
    asked: 0,
    spared: 1,
    ...(view.freshMs <= 0 && { staleSeconds: Math.round(staleMs / 1000) }),
  };
  const upstream = { calls: 0, byRoute: {}, shared: 0, cached: held, naive: 0 };
  return {
    body: { data, extensions: { upstream, client } },
    sent: null,
    freshSeconds: Math.floor(view.freshMs / 1000),
  };
}

/** An answer with the calls of the one before it, which was of no use. */
function billedWith(former: GraphqlBody, body: GraphqlBody): GraphqlBody {
  const [before, after] = [former, body].map(
    ({ extensions }) => extensions?.upstream as UpstreamBill | undefined,
  );
  if (!before || !after) return body;
  const byRoute = { ...after.byRoute };
  for (const [route, calls] of Object.entries(before.byRoute)) byRoute[route] = (byRoute[route] ?? 0) + calls;
  const upstream = { ...after, calls: after.calls + before.calls, byRoute };
  return { ...body, extensions: { ...body.extensions, upstream } };
}

/** Null if the answer isn't one to what was asked: then the gateway is asked for all of it. */
function composedOf(view: View, form: Form, body: GraphqlBody): Composed | null {
  const composed = orNull(() => compose(view, form, body));
  return composed === null || hasDoubts(body, view) ? null : composed;
}

/** True if the narrower answer warns of an indicator that others of the operation have figures of. */
function hasDoubts({ extensions }: GraphqlBody, { roots }: View): boolean {
  const warnings = (extensions?.warnings ?? []) as readonly {
    readonly code?: unknown;
    readonly name?: unknown;
  }[];
  const doubted = warnings.flatMap(({ code, name }) => (code === 'UNKNOWN_INDICATOR' ? [name] : []));
  if (doubted.length === 0) return false;
  return figuresIn(roots).some(({ found }) =>
    [...found].some(([cell, { rows }]) => rows.length > 0 && doubted.includes(cell.split(' ')[1])),
  );
}

/**
 * The answer with errors and warnings in the places of what they are about.
 * @param locations of fields in the operation's document, if another one was sent
 */
function placed(
  body: GraphqlBody,
  { data, held, asked, pathOf }: Composed,
  locations: Plan['locations'] | null,
): GraphqlBody {
  const { errors, extensions = {} } = body;
  const { warnings } = extensions as { readonly warnings?: readonly { readonly path: Path }[] };
  const moved = (path: Path) => pathOf(path) ?? path;
  const shownErrors = errors?.map(({ locations: sent, path, ...error }) => {
    const names = path?.filter((step) => typeof step === 'string').join('.') ?? '';
    const at = locations === null ? sent : locations.get(names);
    return { ...error, ...(at && { locations: at }), ...(path && { path: moved(path) }) };
  });
  const shownWarnings = warnings?.map((warning) => ({ ...warning, path: moved(warning.path) }));
  const client: ClientBill = { held, asked, spared: 0 };
  return {
    ...body,
    ...(shownErrors && { errors: shownErrors }),
    data,
    extensions: { ...extensions, ...(shownWarnings && { warnings: shownWarnings }), client },
  };
}

/** Null if the event doesn't name all of its figures. */
function pairsIn({ changes, isWhole }: Event): readonly Pair[] | null {
  if (!Array.isArray(changes) || isWhole === true) return null;
  const pairs = changes.map(({ observation }): Pair | null => {
    const [country, metric] = [observation?.country?.code, observation?.indicator?.key];
    return country && metric ? [country, metric] : null;
  });
  return pairs.includes(null) ? null : (pairs as readonly Pair[]);
}
