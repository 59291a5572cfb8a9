import {
  type DefinitionNode,
  type DocumentNode,
  type FieldDefinitionNode,
  type GraphQLScalarType,
  type InputValueDefinitionNode,
  parse,
  print,
  type StringValueNode,
  type TypeNode,
} from 'graphql';
import { describe, expect, it, test } from 'vitest';
import { openSchema } from '../../src/gateway/open-schema.ts';
import { FAILURES } from '../../src/shared/errors.ts';
import { openProgram } from '../support/program.ts';

/** SDL as routers and other people's tools get it. */
async function fetchSdl(): Promise<string> {
  await using program = await openProgram();
  const response = await fetch(new URL('/schema.graphql', program.url));
  expect(response.status).toBe(200);
  expect(program.requests()).toEqual([]);
  return response.text();
}

const sdl = await fetchSdl();
const { definitions } = parse(sdl);

/** True for names that a router needs and nobody else sees. */
const isMachinery = (coordinate: string) => /^(_|federation__|link__|Query\._)/.test(coordinate);

interface Named {
  readonly coordinate: string;
  readonly description: StringValueNode | undefined;
}

/** All of ours that has a name, by its schema coordinate. */
const namesIn = (document: DocumentNode): Named[] =>
  document.definitions.flatMap(namesOf).filter(({ coordinate }) => !isMachinery(coordinate));

function namesOf(definition: DefinitionNode): Named[] {
  if (!('name' in definition) || definition.name === undefined || definition.kind === 'DirectiveDefinition') {
    return [];
  }
  const type = definition.name.value;
  const members: readonly (FieldDefinitionNode | InputValueDefinitionNode)[] =
    'fields' in definition ? (definition.fields ?? []) : [];
  const values = 'values' in definition ? (definition.values ?? []) : [];
  return [
    { coordinate: type, description: 'description' in definition ? definition.description : undefined },
    ...members.flatMap((member) => [
      { coordinate: `${type}.${member.name.value}`, description: member.description },
      ...('arguments' in member ? (member.arguments ?? []) : []).map(({ name, description }) => ({
        coordinate: `${type}.${member.name.value}(${name.value}:)`,
        description,
      })),
    ]),
    ...values.map(({ name, description }) => ({ coordinate: `${type}.${name.value}`, description })),
  ];
}

const named = namesIn(parse(sdl));

/** Names that other programs rely on, by type. */
const PROMISED: Record<string, string> = {
  Query:
    'health platformVersion sources source(key) countries(codes) country(code) indicators(category hasData keys) ' +
    'indicator(key) observations(countryCodes metricKeys latest fromYear toYear) ' +
    'tickers(exchangeCode countryCode instrumentType) ticker(exchangeCode symbol) quota node(id) nodes(ids)',
  Country:
    'id code name iso3 officialName capital region subregion profile signals offices tickers observation(metricKey) ' +
    'observations(metricKeys latest fromYear toYear) record',
  Indicator:
    'id key name unit category hasData sources observation(countryCode) ' +
    'observations(countryCodes latest fromYear toYear) record',
  Observation:
    'id country indicator year period asOfPeriod locationName value unit source valueStatus isModelled estimateLow ' +
    'estimateHigh datasetVersion retrievedAt',
  Source: 'id key lastSuccessfulRefresh nextRun record',
  Ticker:
    'id exchangeCode symbol name instrumentType sector industry country session closePrice changePercent record',
  Office: 'id name roleType country terms record',
  Term: 'holder startDate endDate status record',
  CountryProfile: 'country indicators record',
  Signals: 'country observations record',
  Health: 'status record',
  PlatformVersion: 'version record',
  Quota:
    'plan requestsPerMinute monthlyRequests callsThisMinute callsThisMonth minuteResetsAt monthResetsAt state',
  QuotaState: 'OK MINUTE_SPENT DAY_SPENT MONTH_SPENT',
  ErrorCode: Object.keys(FAILURES).join(' '),
  Node: 'id',
};

const fieldsOf = (type: string) => {
  const definition = definitions.find(
    (one): one is DefinitionNode & { readonly fields: readonly FieldDefinitionNode[] } =>
      'name' in one && one.name?.value === type && 'fields' in one,
  );
  return definition?.fields ?? [];
};
const isNullable = (type: TypeNode | undefined) => type !== undefined && type.kind !== 'NonNullType';

describe('the schema', () => {
  it.each(Object.entries(PROMISED))('the schema has what is promised of %s', (type, promised) => {
    const coordinates = [...promised.matchAll(/(\w+)(?:\(([^)]*)\))?/g)].flatMap(([, name, args]) => [
      `${type}.${name}`,
      ...(args?.split(' ') ?? []).map((arg) => `${type}.${name}(${arg}:)`),
    ]);
    const present = new Set(named.map(({ coordinate }) => coordinate));
    expect(coordinates.filter((coordinate) => !present.has(coordinate))).toEqual([]);
    expect(coordinates.length).toBeGreaterThan(0);
  });

  it('the schema describes everything, in sentences', () => {
    expect(named.length).toBeGreaterThan(200);
    const undescribed = named.filter(
      ({ description }) => !/^\S(.|\n)*[.`]$/.test(description?.value.trim() ?? ''),
    );
    expect(undescribed.map(({ coordinate }) => coordinate)).toEqual([]);
  });

  it('the schema lets each field that a call may fail be null', () => {
    const failing = [
      ...fieldsOf('Query')
        .map(({ name }) => `Query.${name.value}`)
        .filter((coordinate) => !isMachinery(coordinate)),
      ...['profile', 'signals', 'offices', 'tickers', 'observation', 'observations', 'name', 'capital'].map(
        (name) => `Country.${name}`,
      ),
      ...['observation', 'observations', 'name', 'unit', 'category', 'hasData', 'sources'].map(
        (name) => `Indicator.${name}`,
      ),
      'Source.lastSuccessfulRefresh',
      'Source.nextRun',
    ];
    const strict = failing.filter((coordinate) => {
      const [type = '', field] = coordinate.split('.');
      return !isNullable(fieldsOf(type).find(({ name }) => name.value === field)?.type);
    });
    expect(strict).toEqual([]);
  });

  it('the schema gives whole series unless told otherwise', () => {
    const defaults = ['Query', 'Country', 'Indicator'].map((type) => {
      const field = fieldsOf(type).find(({ name }) => name.value === 'observations');
      const latest = field?.arguments?.find(({ name }) => name.value === 'latest');
      return latest?.defaultValue && print(latest.defaultValue);
    });
    expect(defaults).toEqual(['false', 'false', 'false']);
  });

  it('the schema is a subgraph of Federation 2 with six entities', () => {
    const keys = definitions.flatMap((definition) => {
      if (!('name' in definition) || !('directives' in definition)) return [];
      const key = definition.directives?.find(({ name }) => name.value === 'key');
      const fields = key?.arguments?.find(({ name }) => name.value === 'fields')?.value;
      return fields?.kind === 'StringValue' ? [[definition.name?.value, fields.value]] : [];
    });
    expect(Object.fromEntries(keys)).toEqual({
      Country: 'code',
      Indicator: 'key',
      Observation: 'id',
      Office: 'id',
      Source: 'key',
      Ticker: 'exchangeCode symbol',
    });
    expect(sdl).toMatch(/@link\(\s*url: "https:\/\/specs\.apollo\.dev\/federation\/v2\.\d+"/);
  });

  it('the schema tells a router the same as everybody else', async () => {
    await using program = await openProgram();
    const reply = await program.ask('{ _service { sdl } }', { key: null });
    expect(reply.errors).toEqual([]);
    const told = namesIn(parse(reply.data._service.sdl)).map(({ coordinate }) => coordinate);
    expect([...new Set(told)].sort()).toEqual([...new Set(named.map(({ coordinate }) => coordinate))].sort());
    expect(reply.data._service.sdl).toContain('https://specs.apollo.dev/federation/v2.');
    expect(program.requests()).toEqual([]);
  });
});

describe('introspection', () => {
  const query = '{ __schema { queryType { name } } __type(name: "Country") { name } }';

  it('introspection is on unless switched off', async () => {
    await using program = await openProgram();
    const reply = await program.ask(query, { key: null });
    expect(reply.data).toEqual({ __schema: { queryType: { name: 'Query' } }, __type: { name: 'Country' } });
    expect(program.requests()).toEqual([]);
  });

  it('introspection says nothing when switched off, and neither do errors', async () => {
    await using program = await openProgram({ env: { INTROSPECTION: 'off' } });
    for (const asked of [query, '{ country(code: "KE") { capitol } }', '{ countrys { code } }']) {
      const reply = await program.ask(asked, { key: null });
      expect(reply.errors[0]?.extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
      expect(JSON.stringify(reply.errors)).not.toMatch(/did you mean|"capital"|"countries"/i);
    }
    expect(program.requests()).toEqual([]);
  });

  it('introspection is not to be had from what routers are told, nor from what is said of variables', async () => {
    const asked = [
      ['{ _service { sdl } }', {}],
      ['{ health { status } ...R } fragment R on Query { same: _service { sdl } }', {}],
      [
        'query ($scope: ObservationScope!) { observations(countryCodes: ["KE"], metricKeys: ["x"], scope: $scope) { value } }',
        { scope: 'NATIONALL' },
      ],
    ] as const;
    await using open = await openProgram();
    expect((await open.ask(asked[0][0])).data._service.sdl).toContain('type Query');
    expect((await open.ask(asked[2][0], { variables: asked[2][1] })).errors[0]?.message).toContain(
      '"NATIONAL"',
    );

    await using closed = await openProgram({ env: { INTROSPECTION: 'off' } });
    for (const [query, variables] of [...asked, ...asked]) {
      const { data, errors } = await closed.ask(query, { variables });
      expect(data ?? null).toBe(null);
      expect(errors).toHaveLength(1);
      expect(errors[0]?.extensions.code).toMatch(/^(GRAPHQL_VALIDATION_FAILED|BAD_USER_INPUT)$/);
      expect(JSON.stringify(errors)).not.toMatch(/did you mean|"NATIONAL\\"|type Query/i);
    }
    expect([...open.requests(), ...closed.requests()]).toEqual([]);
  });
});

const schema = await openSchema();
const [CountryCode, DateTime, JSONValue] = ['CountryCode', 'DateTime', 'JSON'].map((name) =>
  schema.getType(name),
) as [GraphQLScalarType, GraphQLScalarType, GraphQLScalarType];

describe('scalars', () => {
  test.each(['ke', 'KE', 'kE'])('the text %s is read as a country code, in upper case', (code) => {
    expect(CountryCode.parseValue(code)).toBe('KE');
    expect(CountryCode.serialize(code)).toBe('KE');
  });

  test.each(['2026-07-24T03:12:45Z', '2026-07-24T03:12:45.123456Z'])(
    'the number %s is written as the service gave it, to the last digit',
    (instant) => {
      expect(DateTime.parseValue(instant)).toBe(instant);
      expect(DateTime.serialize(instant)).toBe(instant);
    },
  );

  test.each(['', 'yesterday', '2026-13-01', 1_700_000_000, null])('the value %j is no instant', (value) => {
    expect(() => DateTime.parseValue(value)).toThrow('ISO 8601');
  });

  test.each([null, 0, false, '', [], {}, { a: [{ b: null }] }])(
    'the value %j goes through as JSON',
    (value) => {
      expect(JSONValue.serialize(value)).toEqual(value);
      expect(JSONValue.parseValue(value)).toEqual(value);
    },
  );
});
