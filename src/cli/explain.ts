import { readConfig } from '../config.ts';
import { createGateway } from '../gateway.ts';
import { wholeBody } from '../operations/messages.ts';
import { CommandError } from './formats.ts';

/**
 * Asks a gateway that holds nothing, logs nothing, and ends with the question.
 * @param headers added to the header of the content type
 * @returns the body of its answer
 */
export async function askQuietly(
  upstreamUrl: string,
  question: object,
  headers: Readonly<Record<string, string>>,
): Promise<string> {
  const observer = { operation() {}, attempt() {}, problem() {} };
  const config = readConfig({ CACHE_URL: 'none' });
  const gateway = await createGateway({ config, upstreamUrl, observer });
  try {
    const { body } = await gateway.handle({
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      search: '',
      body: question,
      signal: new AbortController().signal,
    });
    return await wholeBody(body);
  } finally {
    await gateway.stop();
  }
}

/** The part of an explained response that is printed. */
interface Explained {
  readonly errors?: readonly { readonly message: string }[];
  readonly extensions?: {
    readonly explain?: {
      readonly calls: number;
      readonly least: number;
      readonly most: number;
      readonly naive: number;
      readonly byRoute: Readonly<Record<string, number>>;
      readonly plan: readonly { readonly route: string; readonly target: string }[];
    };
  };
}

/** A made-up key: nothing is sent. */
const NO_KEY = 'Bearer explain';

/**
 * Writes the plan of an operation as a table: each call it would make to a gateway that has seen nothing yet.
 * @throws CommandError if the operation would be refused
 */
export async function explain(question: object): Promise<string> {
  // Nothing is sent, so that any address does.
  const body = await askQuietly('http://127.0.0.1', question, { authorization: NO_KEY, 'x-explain': '1' });
  const { errors = [], extensions } = JSON.parse(body) as Explained;
  const plan = extensions?.explain;
  if (plan === undefined || errors.length > 0)
    throw new CommandError(errors.map(({ message }) => message).join('\n'));
  const width = Math.max(5, ...Object.keys(plan.byRoute).map((route) => route.length));
  const row = (calls: number | string, route: string, request: string) =>
    `${String(calls).padStart(5)}  ${route.padEnd(width)}  ${request}`.trimEnd();
  const requests = (route: string) =>
    plan.plan.filter((call) => call.route === route).map(({ target }) => target);
  return [
    row('calls', 'route', 'requests'),
    ...Object.entries(plan.byRoute).flatMap(([route, calls]) =>
      requests(route).map((target, i) => row(i === 0 ? calls : '', i === 0 ? route : '', `GET ${target}`)),
    ),
    row(
      plan.calls,
      'in all',
      `(at least ${plan.least}, at most ${plan.most}; ${plan.naive} if each field fetched for itself)`,
    ),
  ].join('\n');
}
