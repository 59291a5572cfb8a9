/** Puts an answer together from what was held and what was asked for, and takes the latter apart to be held. */
import { ALL_YEARS, type BoundFigures, type Years } from './bound.ts';
import type { Form, Place } from './forms.ts';
import type { Shape } from './plan.ts';
import { pairName, type Row, within, yearIn } from './store.ts';
import { understood } from './understood.ts';
import { type CountryView, cellName, countryPair, type FigureView, type View } from './views.ts';

export type Path = readonly (string | number)[];

interface GraphqlError {
  readonly path?: Path;
  readonly locations?: readonly object[];
  readonly extensions?: Readonly<Record<string, unknown>>;
}

export interface GraphqlBody {
  readonly data?: Readonly<Record<string, unknown>> | null;
  readonly errors?: readonly GraphqlError[];
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/** To be held if the answer is whole. */
export interface Arrived {
  readonly pair: string;
  readonly fields: readonly string[];
  readonly years: Years;
  readonly rows: readonly Row[];
}

export interface Composed {
  readonly data: Readonly<Record<string, unknown>>;
  readonly arrived: readonly Arrived[];
  /** Figures that were held, and figures that came. */
  readonly held: number;
  readonly asked: number;
  /** The place in this answer of something in the narrower one; null if it isn't there. */
  readonly pathOf: (path: Path) => Path | null;
}

/** A field without a value: the answer has an error for it. */
const FAILED = Symbol();

type Values = Readonly<Record<string, unknown>>;

/** @throws if the answer isn't one to what was asked */
export function compose({ roots }: View, form: Form | null, body: GraphqlBody): Composed {
  return new Composition(form, body).of(roots);
}

class Composition {
  readonly #form: Form | null;
  readonly #body: GraphqlBody;
  readonly #failed: ReadonlySet<string>;
  readonly #arrived: Arrived[] = [];
  /** Indexes in the answer of what came in the narrower one. */
  readonly #indexes = new Map<unknown, number>();
  #held = 0;
  #asked = 0;

  constructor(form: Form | null, body: GraphqlBody) {
    this.#form = form;
    this.#body = body;
    this.#failed = new Set((body.errors ?? []).map(({ path }) => JSON.stringify(path)));
  }

  of(roots: View['roots']): Composed {
    const came: Values = this.#body.data ?? {};
    const data: Record<string, unknown> = {};
    for (const root of roots) {
      if (typeof root === 'string') data[root] = 'Query';
      else if ('figures' in root) data[root.bound.plan.response] = this.#countries(root, came);
      else data[root.bound.plan.response] = this.#figures(root, root.bound.countries, came, []);
    }
    return {
      data,
      arrived: this.#arrived,
      held: this.#held,
      asked: this.#asked,
      pathOf: (path) => this.#pathOf(path),
    };
  }

  #pathOf(path: Path): Path | null {
    let at: unknown = this.#body.data;
    const moved: (string | number)[] = [];
    for (const step of path) {
      at = (at as Record<string | number, unknown> | null | undefined)?.[step];
      if (typeof step === 'number' && !this.#indexes.has(at)) return null;
      moved.push(typeof step === 'number' ? (this.#indexes.get(at) as number) : step);
    }
    return moved;
  }

  /** Rows of the pairs of a field that came, by `cellName`; FAILED instead if it has none. */
  #rowsIn(
    { bound, ask }: FigureView,
    countries: readonly string[],
    value: unknown,
    path: Path,
  ): ReadonlyMap<string, readonly [Row, unknown][]> | typeof FAILED {
    const { plan, variant } = bound;
    const { metrics, years } = understood(ask);
    if (value === null && (plan.name === 'observations' || this.#failed.has(JSON.stringify(path))))
      return FAILED;
    const list = plan.name === 'observation' ? (value === null ? [] : [value]) : value;
    const places = understood(this.#form).placesOf(plan);
    const cells = new Map<string, [Row, unknown][]>();
    for (const country of countries) for (const metric of metrics) cells.set(cellName(country, metric), []);
    for (const raw of understood(Array.isArray(list) && list) as Values[]) {
      const row: Record<string, unknown> = {};
      readInto(row, plan.shape, raw);
      if (places.country !== null) row['country.code'] = at(raw, places.country);
      if (places.metric !== null) row['indicator.key'] = at(raw, places.metric);
      if (places.year !== null) row.year = at(raw, places.year);
      const country = row['country.code'] ?? only(countries);
      const metric = row['indicator.key'] ?? only(metrics);
      understood(cells.get(cellName(String(country), String(metric)))).push([row, raw]);
      understood(yearIn(row) >= years.from && yearIn(row) <= years.to);
    }
    const fields = [...new Set([...bound.fields, ...this.#addedBy(bound)])];
    for (const country of countries)
      for (const metric of metrics) {
        const rows = (cells.get(cellName(country, metric)) ?? []).map(([row]) => row);
        this.#arrived.push({ pair: pairName(variant, country, metric), fields, years, rows });
      }
    return cells;
  }

  #addedBy({ plan }: BoundFigures): readonly string[] {
    const { country, metric, year } = understood(this.#form).placesOf(plan);
    return [
      ...(country === null ? [] : ['country.code']),
      ...(metric === null ? [] : ['indicator.key']),
      ...(year === null ? [] : ['year']),
    ];
  }

  /**
   * The value of a field of figures.
   * @param came the object that has it in the narrower answer
   * @param above the path of that
   */
  #figures(view: FigureView, countries: readonly string[], came: Values | null, above: Path): unknown {
    const { bound, found, ask } = view;
    const { plan, metrics } = bound;
    const { response, shape } = plan;
    const asked = ask === null ? [] : countries.filter((country) => ask.countries.includes(country));
    const arrived =
      ask === null || came === null ? null : this.#rowsIn(view, asked, came[response], [...above, response]);
    if (arrived === FAILED) return null;
    const list: unknown[] = [];
    for (const country of countries)
      for (const metric of metrics) {
        const name = cellName(country, metric);
        const rows = found.get(name)?.rows ?? [];
        const fresh = arrived?.get(name);
        const years = fresh === undefined || ask === null ? null : ask.years;
        const [before, after] =
          years === null
            ? [rows, []]
            : [
                within(rows, { from: ALL_YEARS.from, to: years.from - 1 }),
                within(rows, { from: years.to + 1, to: ALL_YEARS.to }),
              ];
        for (const row of before) list.push(shaped(shape, row));
        for (const [row, raw] of fresh ?? []) {
          this.#indexes.set(raw, list.length);
          list.push(shaped(shape, row));
        }
        for (const row of after) list.push(shaped(shape, row));
        this.#held += before.length + after.length;
        this.#asked += fresh?.length ?? 0;
      }
    return plan.name === 'observation' ? (list[0] ?? null) : list;
  }

  #countries(view: CountryView, came: Values): unknown {
    const { bound, ask } = view;
    const { plan, codes } = bound;
    const { response } = plan;
    const value = ask === null ? [] : came[response];
    const isOne = plan.name === 'country';
    if (value === null && ask !== null) return null;
    const items = isOne && ask !== null ? [value] : value;
    const objects = new Map<string, readonly [Values, Path]>();
    for (const [i, item] of (understood(Array.isArray(items) && items) as Values[]).entries()) {
      const place = understood(this.#form).placesOf(plan).country;
      const code = isOne ? codes[0] : at(item, place);
      understood(ask?.includes(code as string));
      objects.set(code as string, [item, isOne ? [response] : [response, i]]);
    }
    const list: unknown[] = [];
    for (const code of codes) {
      const [object, path] = objects.get(code) ?? [null, []];
      // The gateway knows no such country.
      if (object === null && ask?.includes(code)) continue;
      if (object !== null) this.#indexes.set(object, list.length);
      list.push(this.#country(view, code, object, path));
    }
    return isOne ? (list[0] ?? null) : list;
  }

  #country({ bound, found, figures }: CountryView, code: string, came: Values | null, path: Path): unknown {
    const { leaves, order } = bound.plan;
    const row: Record<string, unknown> = { ...found.get(code)?.rows[0] };
    if (came !== null) {
      for (const [response, name] of Object.entries(leaves)) row[name] = leafOf(came[response]);
      row.code = code;
      const { fields } = bound;
      this.#arrived.push({ pair: countryPair(code), fields, years: ALL_YEARS, rows: [row] });
    }
    const byResponse = new Map(figures.map((one) => [one.bound.plan.response, one]));
    return Object.fromEntries(
      order.map((response) => {
        const view = byResponse.get(response);
        if (view === undefined) return [response, row[leaves[response] ?? '']];
        return [response, this.#figures(view, [code], came, path)];
      }),
    );
  }
}

const only = (names: readonly string[]) => (names.length === 1 ? names[0] : undefined);

function at(object: unknown, place: Place): unknown {
  let value = object;
  for (const name of understood(place)) value = (value as Values | undefined)?.[name];
  return value;
}

function leafOf(value: unknown): unknown {
  understood(value !== undefined && (typeof value !== 'object' || value === null));
  return value;
}

function readInto(row: Record<string, unknown>, shape: Shape, raw: Values, prefix = ''): void {
  for (const [response, one] of Object.entries(shape)) {
    const value = understood(raw)[response];
    if (typeof one === 'string') row[prefix + one] = leafOf(value);
    else readInto(row, one.shape, value as Values, `${prefix}${one.name}.`);
  }
}

function shaped(shape: Shape, row: Row, prefix = ''): Values {
  return Object.fromEntries(
    Object.entries(shape).map(([response, one]) => [
      response,
      typeof one === 'string' ? row[prefix + one] : shaped(one.shape, row, `${prefix}${one.name}.`),
    ]),
  );
}
