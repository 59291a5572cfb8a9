import { z } from 'zod';
import {
  type CommandHost,
  isObject,
  type JsonObject,
  messageOf,
  type Plugin,
  type PluginHost,
} from '../../plugin/index.ts';

/** Of the file format. */
const VERSION = 1;

const Head = z.object(
  {
    countryGraphFixtures: z.literal(VERSION, 'must be 1: another version of the program has written it'),
    recordedAt: z.iso.datetime({ offset: true, error: 'must be a time' }),
  },
  'must be the first line of a file of country-graph record',
);

const rows = z.custom<readonly JsonObject[]>((value) => Array.isArray(value) && value.every(isObject));
const year = z.int().nullable();

const Line = z.object(
  {
    name: z.string('must be a text').min(1, 'must not be empty'),
    value: z.union(
      [
        rows,
        z.looseObject({ status: z.literal([200, 404, 422]) }),
        z.looseObject({
          ranges: z.array(z.looseObject({ years: z.object({ from: year, to: year }), rows })),
        }),
        z.object({ absence: z.string() }),
        z.object({ isUndecided: z.literal(true) }),
      ],
      'must be an answer or figures of the service',
    ),
  },
  'must be {"name": …, "value": …}',
);

/** A cached value, without its key and time. */
export interface Fixture {
  readonly name: string;
  readonly value: unknown;
}

export interface Fixtures {
  readonly recordedAt: string;
  readonly fixtures: readonly Fixture[];
}

/** Fixtures are cached under this key, whoever asks. */
const AUTHORIZATION = 'Bearer fixtures';

/** One line each, sorted, so that a diff shows the changes. */
export async function writeFixtures(
  file: string,
  { recordedAt, fixtures }: Fixtures,
  { files }: Pick<CommandHost, 'files'>,
): Promise<void> {
  const sorted = fixtures.toSorted(({ name: one }, { name: other }) => (one < other ? -1 : 1));
  const lines = [{ countryGraphFixtures: VERSION, recordedAt }, ...sorted].map(
    (line) => `${JSON.stringify(line)}\n`,
  );
  await files.replace(file, lines.join(''));
}

export async function readFixtures(
  file: string,
  { files, settingsError }: Pick<PluginHost, 'files' | 'settingsError'>,
): Promise<Fixtures> {
  try {
    const [head = '', ...lines] = (await files.readText(file)).split('\n');
    const { recordedAt } = files.checkedJson(Head, head, file);
    const fixtures = lines.flatMap((line, i) =>
      line.trim() === '' ? [] : [files.checkedJson(Line, line, file, i + 2)],
    );
    return { recordedAt, fixtures };
  } catch (cause) {
    throw settingsError(`OFFLINE_FIXTURES: ${messageOf(cause)}`, { cause });
  }
}

export function serveFixtures({ recordedAt, fixtures }: Fixtures) {
  return {
    keys: () => ({ owns: () => true, exchange: () => ({ authorization: AUTHORIZATION }) }),
    start({ seed }) {
      const values = new Map(fixtures.map(({ name, value }) => [name, value]));
      seed(AUTHORIZATION, values, Date.parse(recordedAt));
    },
  } satisfies Plugin;
}
