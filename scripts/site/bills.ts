import { getOperationAST, parse } from 'graphql';
import { WHOLE_GRAPH } from '../../test/support/golden-settings.ts';
import { openProgram } from '../../test/support/program.ts';

/** Cost of an operation over the sandbox, with nothing held. */
export interface OperationBill {
  readonly calls: number;
  /** Cost if each field fetched for itself. */
  readonly naive: number;
  readonly byRoute: Readonly<Record<string, number>>;
}

type Variables = Readonly<Record<string, unknown>>;

/** Samples for variables that an operation of a document must be given. */
const SAMPLES: Variables = { code: 'KE', codes: ['KE', 'NG'], metricKey: 'population_total' };

/** True if code is an operation that can be asked: no SDL, and no subscription. */
export function isQuery(code: string, language: string): boolean {
  if (language !== 'graphql') return false;
  return getOperationAST(parse(code))?.operation === 'query';
}

/** Asks one operation of a gateway that has seen nothing. */
export async function billOf(query: string, variables: Variables = SAMPLES): Promise<OperationBill> {
  await using program = await openProgram({ env: WHOLE_GRAPH });
  const { data, upstream, errors } = await program.ask(query, { variables: givenTo(query, variables) });
  const [error] = errors;
  // Refuses the bill of a failed operation: it says nothing of its cost.
  if (data == null) throw new Error(`An operation of the documents fails: ${error?.message}\n${query}`);
  return upstream;
}

/** Prices of operations, by `x-explain`: under a key that the service knows. */
export async function pricesOf(queries: readonly string[]): Promise<number[]> {
  await using program = await openProgram({ env: WHOLE_GRAPH });
  // A key that the service has accepted may plan more figures than one that anybody could have made up.
  await program.ask('{ sources { key } }');
  const prices: number[] = [];
  for (const query of queries) {
    const { extensions } = await program.ask(query, { headers: { 'x-explain': '1' } });
    const { calls } = (extensions as { readonly explain: { readonly calls: number } }).explain;
    prices.push(calls);
  }
  return prices;
}

function givenTo(query: string, variables: Variables): Variables {
  const names = getOperationAST(parse(query))?.variableDefinitions ?? [];
  return Object.fromEntries(
    names.flatMap(({ variable: { name } }) =>
      name.value in variables ? [[name.value, variables[name.value]]] : [],
    ),
  );
}

/** A bill in a sentence. */
export function billInWords({ calls, naive, byRoute }: OperationBill): string {
  const routes = Object.entries(byRoute)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([route, count]) => `${count} × ${route}`)
    .join(', ');
  const paid = calls === 1 ? '1 upstream call' : `${calls === 0 ? 'No' : calls} upstream calls`;
  const instead = naive > calls ? `; ${naive} if each field fetched for itself` : '';
  return `${paid}${routes === '' ? '' : ` (${routes})`}${instead}`;
}
