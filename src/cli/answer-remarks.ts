/** An answer as it came, of whichever version of a gateway. */
export interface GivenAnswer {
  readonly data?: unknown;
  readonly errors: readonly AnsweredError[];
  readonly extensions?: {
    readonly upstream?: AnsweredBill;
    readonly warnings?: readonly Warned[];
    readonly absences?: readonly { readonly path: Path; readonly reason: string }[];
  };
}

type Path = readonly (string | number)[];

interface Warned {
  readonly code: string;
  readonly message: string;
  readonly path?: Path;
  readonly didYouMean?: readonly string[];
}

interface AnsweredError {
  readonly message: string;
  readonly path?: Path;
  readonly extensions?: {
    readonly code?: string;
    readonly retryAfterSeconds?: number;
    /** Of `NOT_HELD`. */
    readonly command?: string;
  };
}

interface AnsweredBill {
  readonly calls: number;
  readonly byRoute: Readonly<Record<string, number>>;
  readonly shared: number;
  readonly cached: number;
  readonly naive: number;
  readonly stale?: readonly unknown[];
}

const UNKNOWN_NAMES = new Set(['UNKNOWN_INDICATOR', 'UNKNOWN_COUNTRY']);

/** True if a root field is empty and a name in it may be misspelt, which a script must not take for success. */
export function isEmptyForANameIn({ data, extensions: { warnings = [] } = {} }: GivenAnswer): boolean {
  const emptied = new Map<string, Set<string>>();
  for (const { code, path = [] } of warnings) {
    if (!UNKNOWN_NAMES.has(code)) continue;
    const [root] = path;
    const field = path.findLast((step) => typeof step === 'string');
    if (root === undefined || field === undefined) continue;
    const fields = emptied.get(String(root)) ?? new Set();
    emptied.set(String(root), fields.add(String(field)));
  }
  return [...emptied].some(([root, fields]) => !showsAnything((data as Table | null)?.[root], fields));
}

type Table = Readonly<Record<string, unknown>>;

/** Values beside an emptied field don't count: they only say whose value it would be. */
function showsAnything(value: unknown, emptied: ReadonlySet<string>): boolean {
  if (Array.isArray(value)) return value.some((item) => showsAnything(item, emptied));
  if (typeof value !== 'object' || value === null) return value != null;
  const below = Object.values(value).filter((member) => typeof member === 'object' && member !== null);
  if (below.length > 0) return below.some((item) => showsAnything(item, emptied));
  const isBesideEmpty = Object.keys(value).some((key) => emptied.has(key));
  return (
    !isBesideEmpty && Object.entries(value).some(([key, member]) => key !== '__typename' && member != null)
  );
}

/** Errors, warnings, absences and the bill, a line each. */
export function remarksOn({ errors, extensions }: GivenAnswer): readonly string[] {
  const { upstream, warnings = [], absences = [] } = extensions ?? {};
  const commands = new Set(errors.flatMap(({ extensions: { command } = {} }) => command ?? []));
  return [
    ...errors.map(lineOf),
    ...Array.from(commands, (command) => `What is missing is fetched by: ${command}`),
    ...warnings.map(warningLine),
    ...absences.map(({ path, reason }) => `absence ${reason} at ${path.join('.')}`),
    ...(upstream === undefined ? [] : [billLine(upstream)]),
  ];
}

function warningLine({ code, message, didYouMean = [] }: Warned): string {
  // Most messages name them.
  const unnamed = didYouMean.filter((name) => !message.includes(name));
  const meant = unnamed.length === 0 ? '' : ` Did you mean ${unnamed.join(', ')}?`;
  return `warning ${code}: ${message}${meant}`;
}

function lineOf({ message, path, extensions: { code, retryAfterSeconds } = {} }: AnsweredError): string {
  const where = path === undefined ? '' : ` at ${path.join('.')}`;
  const again = retryAfterSeconds === undefined ? '' : ` Ask again in ${retryAfterSeconds} s.`;
  return `error ${code ?? ''}${where}: ${message}${again}`.replace(/^error (?=:| at)/, 'error');
}

function billLine({ calls, byRoute, shared, cached, naive, stale }: AnsweredBill): string {
  const routes = Object.entries(byRoute).map(([route, count]) => `${count} ${route}`);
  const of = routes.length === 0 ? '' : ` (${routes.join(', ')})`;
  const old = stale === undefined ? '' : `, ${stale.length} past their time`;
  return `${calls === 1 ? '1 call' : `${calls} calls`}${of}, ${shared} shared, ${cached} cached${old}; ${naive} if each field fetched for itself`;
}
