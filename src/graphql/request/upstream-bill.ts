import { type Bill, openBill } from '../../service/bill.ts';

const NAME = '"upstream":';

/** Reads the bill at the end of a body; in a list of answers, or lines of them, the sum of all. */
export function billIn(body: string | Buffer): Bill {
  const text = String(body).trim();
  if (text.startsWith('[')) return sumOf(JSON.parse(text));
  const lines = text.split('\n');
  return lines.length > 1 ? sumOf(lines.map((line) => JSON.parse(line))) : billAtEnd(text);
}

/** A body may be long: only its end is parsed. */
function billAtEnd(text: string): Bill {
  const from = text.lastIndexOf(NAME);
  if (from < 0) return openBill();
  let depth = 0;
  for (let to = from; to < text.length; to += 1) {
    if (text[to] === '{') depth += 1;
    else if (text[to] === '}') depth -= 1;
    // Nothing in a bill has braces but its objects.
    if (text[to] === '}' && depth === 0) return JSON.parse(text.slice(from + NAME.length, to + 1));
  }
  return openBill();
}

function sumOf(answers: readonly { readonly extensions?: { readonly upstream?: Bill } }[]): Bill {
  const sum = openBill();
  for (const { extensions: { upstream } = {} } of answers) {
    if (upstream === undefined) continue;
    for (const name of ['calls', 'shared', 'cached', 'naive'] as const) sum[name] += upstream[name];
    for (const [route, calls] of Object.entries(upstream.byRoute))
      sum.byRoute[route] = (sum.byRoute[route] ?? 0) + calls;
  }
  return sum;
}
