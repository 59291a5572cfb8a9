import { hash } from 'node:crypto';
import {
  acceptingInstead,
  ChangedRequest,
  Failure,
  type GatewayRequest,
  type GatewayResponse,
  type HandleRequest,
  HeldOperations,
  isExplained,
  isObject,
  type PluginHost,
  type PluginServices,
  type StartedServices,
  VARIES,
  withoutMultipart,
} from '../../plugin/index.ts';
import type { Snapshots } from './snapshots.ts';

/** `new` keeps the answer, and a token of one that was kept gives it again. */
const HEADER = 'x-snapshot';

const NEW = 'new';

/** Has an error, and takes no call, if the service hasn't accepted the key lately. */
export const LATELY = 'query SnapshotKey { revisions(countryCodes: [], metricKeys: []) { seenAt } }';

/** Takes a call, if the list has expired. */
export const ANEW = 'query SnapshotKeyAnew { sources { key } }';

interface Means {
  readonly snapshots: Snapshots;
  readonly host: Pick<PluginHost, 'now' | 'problem'>;
  readonly gateway: () => Pick<StartedServices, 'holderOf' | 'refusal' | 'textOf'>;
}

/** Without a journal: whoever asks for what was must not get what is. */
export function refuseSnapshot(request: GatewayRequest, { refusal }: PluginServices): GatewayResponse {
  const words =
    'This gateway keeps no snapshots, since JOURNAL_FILE names no file. Ask without `x-snapshot`.';
  return refusal(new Failure('NOT_RECORDED', words), request);
}

/** Keeps answers, and gives them again to who has asked for them, for the same operation. */
export function askedAgain(next: HandleRequest, means: Means): HandleRequest {
  return async (request) => {
    const wanted = request.headers[HEADER];
    // A batch is taken apart outside of here.
    if (wanted === undefined || isExplained(request) || new HeldOperations(request).isBatch)
      return next(request);
    try {
      const holder = await holderOf(request, means);
      const whole = answeredWhole(request);
      return await (wanted === NEW ? kept(whole, holder, next, means) : again(whole, holder, next, means));
    } catch (error) {
      if (error instanceof Failure) return means.gateway().refusal(error, request);
      throw error;
    }
  };
}

/** @throws Failure UNAUTHENTICATED without a key */
async function holderOf({ headers }: GatewayRequest, { gateway }: Means): Promise<string> {
  const { authorization } = headers;
  if (authorization === undefined)
    throw new Failure(
      'UNAUTHENTICATED',
      'A snapshot is kept for a key: send `Authorization: Bearer <API_KEY>`.',
    );
  return (await gateway().holderOf(authorization)).name;
}

/** No answer that is kept comes in parts. */
function answeredWhole(request: GatewayRequest): GatewayRequest {
  const accept = withoutMultipart(request.headers.accept ?? '');
  return new ChangedRequest(request, { headers: acceptingInstead(request.headers, accept) });
}

async function kept(
  request: GatewayRequest,
  holder: string,
  next: HandleRequest,
  { snapshots, host, gateway }: Means,
): Promise<GatewayResponse> {
  const response = await next(request);
  const { body } = response;
  const parts = partsOf(Buffer.isBuffer(body) ? body : Buffer.from(await gateway().textOf(response)));
  if (parts === null) return response;
  const { before, extensions } = parts;
  const put = () => {
    const { upstream: _, ...others } = extensions;
    const data = before.subarray(DATA_START.length);
    const made = { holder, operation: digestOf(request), data, extensions: JSON.stringify(others) };
    return snapshots.put(made, host.now());
  };
  let snapshot: string | null = null;
  let snapshotProblem = problemOf(parts, snapshots);
  try {
    if (snapshotProblem === undefined) snapshot = await put();
  } catch (error) {
    host.problem(error, 'snapshot');
    snapshotProblem = 'The snapshot could not be written. Ask again later.';
  }
  return {
    status: response.status,
    headers: headersOf(response.headers, snapshot, request),
    body: Buffer.concat([before, endOf({ ...extensions, snapshot, snapshotProblem })]),
  };
}

/** Why an answer can't be kept; undefined if it can. */
function problemOf({ before }: Parts, { mostBytesOfOne: most }: Snapshots): string | undefined {
  if (!before.subarray(0, DATA_START.length).equals(DATA_START)) return 'An answer with errors is not kept.';
  if (before.length <= most) return undefined;
  return `Answers are kept up to ${most} bytes; this one has ${before.length}.`;
}

async function again(
  request: GatewayRequest,
  holder: string,
  next: HandleRequest,
  means: Means,
): Promise<GatewayResponse> {
  const token = request.headers[HEADER] ?? '';
  const snapshot = means.snapshots.get(token, means.host.now());
  // Nobody learns what others keep.
  if (snapshot === null || snapshot.holder !== holder)
    throw new Failure(
      'NOT_RECORDED',
      'There is no such snapshot of this key, or it has expired or was dropped. Ask with `x-snapshot: new`, and keep the token of `extensions.snapshot`.',
    );
  if (snapshot.operation !== digestOf(request))
    throw new Failure(
      'NOT_RECORDED',
      'The snapshot is of another operation, or of other variables. Send those that it was made with.',
    );
  const { status, headers, bill } = await allowed(request, next, means);
  const extensions = { upstream: bill, ...JSON.parse(snapshot.extensions), snapshot: token };
  return {
    status,
    headers: headersOf(headers, token, request),
    body: Buffer.concat([DATA_START, snapshot.data, endOf(extensions)]),
  };
}

/**
 * Checks that the key may still read the operation, at no call, and that the service accepts it.
 * @throws Failure if not
 */
async function allowed(request: GatewayRequest, next: HandleRequest, { gateway }: Means) {
  const { headers } = request;
  const priced = await next(new ChangedRequest(request, { headers: { ...headers, 'x-explain': '1' } }));
  const { errors = [] } = JSON.parse(await gateway().textOf(priced)) as AnswerText;
  // Another error is of the price alone.
  throwFirst(errors.filter(({ extensions }) => extensions.code === 'DOCUMENT_NOT_ALLOWED'));
  const check = async (query: string) => {
    const response = await next(
      new ChangedRequest(request, {
        method: 'POST',
        search: '',
        headers: { ...headers, 'content-type': 'application/json' },
        body: { query },
      }),
    );
    const answer = JSON.parse(await gateway().textOf(response)) as AnswerText;
    return { ...response, errors: answer.errors ?? [], bill: answer.extensions.upstream };
  };
  const lately = await check(LATELY);
  const checked = lately.errors.length === 0 ? lately : await check(ANEW);
  throwFirst(checked.errors);
  return checked;
}

interface AnswerText {
  readonly errors?: readonly {
    readonly message: string;
    readonly extensions: Failure['fields'] & { readonly code: Failure['code'] };
  }[];
  readonly extensions: { readonly upstream: unknown };
}

function throwFirst([error]: NonNullable<AnswerText['errors']>): void {
  if (error === undefined) return;
  const { code, ...fields } = error.extensions;
  throw new Failure(code, error.message, fields);
}

const DATA_START = Buffer.from('{"data":');
const EXTENSIONS_START = Buffer.from(',"extensions":');

interface Parts {
  /** All that stands before the extensions, which come last. */
  readonly before: Buffer;
  readonly extensions: Readonly<Record<string, unknown>>;
}

/** Null for a body that is no answer to an operation. */
function partsOf(body: Buffer): Parts | null {
  const at = body.lastIndexOf(EXTENSIONS_START);
  if (at === -1) return null;
  try {
    const end = String(body.subarray(at + EXTENSIONS_START.length)).trim();
    const extensions: unknown = JSON.parse(end.slice(0, -1));
    return isObject(extensions) ? { before: body.subarray(0, at), extensions } : null;
  } catch {
    return null;
  }
}

function endOf(extensions: object): Buffer {
  return Buffer.from(`${EXTENSIONS_START}${JSON.stringify(extensions)}}`);
}

/** The answer is neither for caches nor of the state that a tag would name. */
function headersOf(
  headers: GatewayResponse['headers'],
  token: string | null,
  { place }: GatewayRequest,
): Map<string, string> {
  const own = new Map(headers).set('cache-control', 'no-store').set('vary', VARIES);
  own.delete('etag');
  // In a batch each answer has its own.
  if (token !== null && place === undefined) own.set(HEADER, token);
  return own;
}

/** Equal for one operation with equal variables, however it is sent. */
function digestOf(request: GatewayRequest): string {
  const given = isObject(request.body) ? request.body : paramsIn(request.search);
  const { query, documentId, doc_id: docId, id, operationName, variables, extensions } = given;
  const persisted = isObject(extensions) ? extensions.persistedQuery : undefined;
  const name = documentId ?? docId ?? id ?? (isObject(persisted) ? persisted.sha256Hash : undefined);
  const document =
    typeof query === 'string' && query !== '' ? hash('sha256', query) : `${name}`.replace('sha256:', '');
  return hash('sha256', JSON.stringify([document, operationName ?? null, sorted(variables ?? {})]));
}

function paramsIn(search: string): Readonly<Record<string, unknown>> {
  const params: Record<string, unknown> = Object.fromEntries(new URLSearchParams(search));
  for (const name of ['variables', 'extensions']) {
    try {
      params[name] = JSON.parse(String(params[name]));
    } catch {
      // Whoever answers refuses it, unless there is none.
    }
  }
  return params;
}

/** The order of names makes no difference. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, item]) => [name, sorted(item)]);
}
