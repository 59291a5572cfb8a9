/** A member of the `detail` list of a 422. */
interface Problem {
  loc: ['query', string];
  msg: string;
  type: string;
}

/** A request that can't be answered, and the body that says why. */
export class Refused extends Error {
  readonly status: number;
  readonly body: { detail: string | Problem[] };

  constructor(status: number, detail: string | Problem[]) {
    super(`refused with ${status}`);
    this.status = status;
    this.body = { detail };
  }
}

/** Treatment of parameters that the specification doesn't name: used, passed over, or refused with a 422. */
export type Extras = 'honour' | 'ignore' | 'refuse';

/** The parameters of one request. Readers throw {@link Refused} with a 422 for a value they can't read. */
export class Query {
  readonly #values: Readonly<Record<string, string>>;

  /**
   * @param specified names that the specification has for the route
   * @param undocumented names that the live service has been seen to know besides
   */
  constructor(
    values: Readonly<Record<string, string>>,
    specified: readonly string[],
    undocumented: readonly string[],
    extras: Extras,
  ) {
    const known = extras === 'honour' ? [...specified, ...undocumented] : specified;
    const others = Object.keys(values).filter((name) => !known.includes(name));
    if (extras === 'refuse' && others.length > 0) {
      throw new Refused(
        422,
        others.map((name) => ({
          loc: ['query', name],
          msg: 'Extra inputs are not permitted',
          type: 'extra_forbidden',
        })),
      );
    }
    this.#values = Object.fromEntries(Object.entries(values).filter(([name]) => known.includes(name)));
  }

  text(name: string): string | undefined {
    return this.#values[name];
  }

  /** The words of both parameters, lower case, each once; null if neither is given or both are empty. */
  list(many: string, one: string): string[] | null {
    const words = `${this.#values[many] ?? ''},${this.#values[one] ?? ''}`
      .split(',')
      .map((word) => word.trim().toLowerCase())
      .filter((word) => word !== '');
    return words.length > 0 ? [...new Set(words)] : null;
  }

  boolean(name: string): boolean | undefined {
    const text = this.#values[name]?.toLowerCase();
    if (text === undefined) return undefined;
    if (['true', '1', 'yes', 'on'].includes(text)) return true;
    if (['false', '0', 'no', 'off'].includes(text)) return false;
    throw problem(name, 'Input should be a valid boolean, unable to interpret input', 'bool_parsing');
  }

  integer(name: string, least: number, most: number): number | undefined {
    const text = this.#values[name];
    if (text === undefined) return undefined;
    if (!/^[+-]?\d+$/.test(text)) {
      throw problem(
        name,
        'Input should be a valid integer, unable to parse string as an integer',
        'int_parsing',
      );
    }
    const value = Number(text);
    if (value < least) {
      throw problem(name, `Input should be greater than or equal to ${least}`, 'greater_than_equal');
    }
    if (value > most) throw problem(name, `Input should be less than or equal to ${most}`, 'less_than_equal');
    return value;
  }
}

function problem(name: string, msg: string, type: string): Refused {
  return new Refused(422, [{ loc: ['query', name], msg, type }]);
}
