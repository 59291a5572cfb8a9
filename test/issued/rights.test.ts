import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { GraphQLObjectType } from 'graphql';
import { beforeAll, expect, it } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { createGateway } from '../../src/gateway/gateway.ts';
import { exchangedSeal } from '../../src/graphql/request/callers.ts';
import { sha256Of } from '../../src/graphql/request/persisted.ts';
import { wholeBody } from '../../src/graphql/request/responses.ts';
import { plugins } from '../../src/plugins.ts';
import { TAGS } from '../../src/service/rights.ts';
import { systemClock } from '../../src/shared/async/clock.ts';
import { Flow } from '../../src/shared/async/turns.ts';
import { drawn, draws } from '../support/draws.ts';
import { schemaOf } from '../support/plugin-host.ts';
import { openFolder, openIssuing } from './issuing.ts';
import { fieldQuestions, type IdQuestion, idQuestions, type Question } from './questions.ts';

/** Parts of the graph by the routes of the service that bring them. */
const TAG_BY_ROUTE: readonly (readonly [route: RegExp, tag: string])[] = [
  [/ \/v1\/data\b/, 'figures'],
  [/ \/v1\/countries\/\w+\/(profile|signals)/, 'figures'],
  [/ \/v1\/markets\//, 'markets'],
  [/ \/v1\/government\//, 'government'],
  [/ \/v1\/trade\//, 'trade'],
  [/ \/v1\/policies/, 'policy'],
];

const tagsOfRequests = (requests: readonly string[]) =>
  new Set(requests.flatMap((request) => TAG_BY_ROUTE.find(([route]) => route.test(request))?.[1] ?? []));

/** Everything is asked for each time, so that the calls of a question show what it reads. */
const NOTHING_HELD = { CACHE_TTL_SECONDS: '0', STALE_IF_ERROR_SECONDS: '0', CACHE_RENEWAL: 'off' };
const WHOLE = { EXTRA_ROUTES: 'policy,trade', MAX_SUBSCRIPTIONS: '1000' };

const openWhole = () => schemaOf(plugins, { ...WHOLE, SUBSCRIPTIONS: 'on' });

type Issuing = Awaited<ReturnType<typeof openIssuing>>;

/** Answers of these are of the moment. */
const OF_MOMENT = /quota|freshness/;

type AnyQuestion = Question & Partial<IdQuestion>;

/** A question, the parts of the graph that it reads, and its answer to a key that may read all. */
interface Judged extends AnyQuestion {
  readonly reads: ReadonlySet<string>;
  readonly data: unknown;
}

const ID_OF = {
  Country: '{ found: country(code: "KE") { id } }',
  Indicator: '{ found: indicator(key: "population_total") { id } }',
  Source: '{ found: source(key: "world_bank_wdi") { id } }',
  Observation: '{ found: country(code: "KE") { id: observation(metricKey: "population_total") { id } } }',
  Ticker: '{ all: tickers(exchangeCode: "NGX") { id exchangeCode symbol } }',
  Office: '{ found: country(code: "KE") { id: offices { id } } }',
};

/** Asks all questions by a key that may read all, and notes the parts of the graph that each of them reads. */
async function judgeAll(): Promise<readonly Judged[]> {
  using folder = openFolder();
  await using program = await openIssuing({ ...folder, env: { ...WHOLE, ...NOTHING_HELD } });
  const schema = await openWhole();
  const whole = await program.issue({ name: 'whole' });
  const ask = (text: string, variables = {}) => program.ask(text, { key: whole, variables });
  const ids: Record<string, string> = {};
  for (const [type, text] of Object.entries(ID_OF)) {
    const { data } = await ask(text);
    const found = data.found?.id ?? data.all[0].id;
    ids[type] = [found].flat()[0]?.id ?? found;
  }
  const [{ exchangeCode, symbol }] = (await ask(ID_OF.Ticker)).data.all;
  const keys = {
    Country: { code: 'KE' },
    Indicator: { key: 'population_total' },
    Source: { key: 'world_bank_wdi' },
    Ticker: { exchangeCode, symbol },
  };
  const query = schema.getQueryType() as GraphQLObjectType;
  const questions = drawn<AnyQuestion>([...fieldQuestions(query), ...idQuestions(schema, ids, keys)]);
  const judged: Judged[] = [];
  for (const question of questions) {
    program.pass(1);
    program.requests();
    const { data, errors } = await ask(question.text, question.variables);
    const isFine = errors.every(({ extensions }) => extensions.code === 'BAD_USER_INPUT');
    if (!isFine) throw new Error(`${question.text}: ${JSON.stringify(errors)}`);
    if (errors.length > 0) continue;
    const reads = new Set([...tagsOfRequests(program.requests()), ...question.typeTags]);
    judged.push({ ...question, reads, data });
  }
  return judged;
}

let judged: readonly Judged[] = [];
beforeAll(async () => {
  judged = await judgeAll();
});

const isOther = ({ reads }: Pick<Judged, 'reads'>, tag: string) => [...reads].some((one) => one !== tag);

/** Issues a key of each tag. */
async function keysOf(program: Issuing): Promise<ReadonlyMap<string, string>> {
  const keys = new Map<string, string>();
  for (const tag of TAGS) keys.set(tag, await program.issue({ name: tag, tags: [tag] }));
  return keys;
}

interface Told {
  readonly data: unknown;
  readonly codes: readonly unknown[];
  readonly requests: readonly string[];
}

/**
 * Asks all questions by a key of each tag, and lists the answers that are not what the key may be told.
 * @param isMeant tells if a question is to be asked by a key
 * @param mayCall true if lists that are open to all may be asked for before a refusal
 */
async function strayAnswers(
  ask: (tag: string, question: Judged) => Promise<Told>,
  isMeant = (_question: Judged, _tag: string) => true,
  mayCall = false,
) {
  const stray: unknown[] = [];
  for (const tag of TAGS)
    for (const question of judged.filter((one) => isMeant(one, tag))) {
      const { data, codes, requests } = await ask(tag, question);
      const reached = [...tagsOfRequests(requests)].filter((one) => one !== tag);
      const isSame = () => JSON.stringify(data) === JSON.stringify(question.data);
      const isRight = isOther(question, tag)
        ? codes.includes('DOCUMENT_NOT_ALLOWED') && reached.length === 0 && (mayCall || requests.length === 0)
        : codes.length === 0 && (OF_MOMENT.test(question.text) || isSame());
      if (!isRight) stray.push({ tag, text: question.text, codes, requests, data });
    }
  return stray;
}

const askedOf =
  (program: Issuing, keys: ReadonlyMap<string, string>) => async (tag: string, question: Judged) => {
    program.pass(0.1);
    program.requests();
    const { text, variables = {} } = question;
    const { data, errors } = await program.ask(text, { key: keys.get(tag) ?? null, variables });
    return { data, codes: errors.map(({ extensions }) => extensions.code), requests: program.requests() };
  };

it.for(TAGS)(
  'no field of the schema is read by a key that may not, by a query or an identifier: %s',
  async (tag) => {
    expect(judged.length).toBeGreaterThan(draws(450, 110));
    expect(judged.filter((one) => isOther(one, tag)).length).toBeGreaterThan(draws(150, 35));
    using folder = openFolder();
    await using program = await openIssuing({ ...folder, env: { ...WHOLE, ...NOTHING_HELD } });
    const ask = askedOf(program, await keysOf(program));
    expect(await strayAnswers(ask, (_, keyTag) => keyTag === tag)).toEqual([]);
  },
);

it('no answer that another key has filled is read by a key that may not, kept bytes included', async () => {
  using folder = openFolder();
  await using program = await openIssuing({ ...folder, env: { ...WHOLE, CACHE_RENEWAL: 'off' } });
  const key = await program.issue({ name: 'whole' });
  for (let times = 0; times < 3; times += 1)
    for (const { text, variables = {} } of judged) await program.ask(text, { key, variables });
  const repeats = program.operations.filter(({ repeated }) => repeated).length;
  expect(repeats).toBeGreaterThan(judged.length / 2);
  expect(await strayAnswers(askedOf(program, await keysOf(program)), isOther)).toEqual([]);
});

it('what a key may read is judged where it is reached, though nobody has looked at the text', async () => {
  using folder = openFolder();
  await using program = await openIssuing(folder);
  const gateway = await createGateway({
    config: readConfig({ CACHE_URL: 'none', ...WHOLE }, plugins),
    plugins,
    upstreamUrl: program.service.url,
    observer: { operation() {}, attempt() {}, problem() {} },
    clock: { ...systemClock, ...program.clock.clock },
    openSchema: openWhole,
  });
  const budget = { name: 'free', flow: new Flow(), take: () => () => {} };
  const ask = async (tag: string, { text, variables = {} }: Judged) => {
    program.pass(0.1);
    program.requests();
    const response = await gateway.handle({
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/graphql-response+json' },
      search: '',
      body: { query: text, variables },
      signal: new AbortController().signal,
      exchanged: exchangedSeal.seal({
        authorization: 'Bearer demo-team',
        budget,
        rights: { name: tag, tags: new Set([tag]) },
      }),
    });
    const { data, errors = [] } = JSON.parse(await wholeBody(response.body));
    const codes = errors.map(({ extensions }: { extensions: { code: string } }) => extensions.code);
    return { data, codes, requests: program.requests() };
  };
  expect(await strayAnswers(ask, isOther, true)).toEqual([]);
  await gateway.stop();
});

it('no subscription reads for a key what it may not, whatever of an event it selects', async () => {
  using folder = openFolder();
  await using program = await openIssuing({ ...folder, env: { ...WHOLE, SUBSCRIPTIONS: 'on' } });
  const schema = await openWhole();
  const questions = drawn(
    fieldQuestions(schema.getSubscriptionType() as GraphQLObjectType, 'subscription '),
  ).map(({ text, typeTags }) => ({
    text,
    reads: new Set([...typeTags, ...(text.includes('observationsChanged') ? ['figures'] : [])]),
  }));
  expect(questions.length).toBeGreaterThan(draws(150, 37));
  const stray: unknown[] = [];
  for (const [tag, key] of await keysOf(program))
    for (const { text } of questions.filter((one) => isOther(one, tag))) {
      const response = await fetch(`${program.url}/stream`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'text/event-stream',
          authorization: `Bearer ${key}`,
        },
        body: JSON.stringify({ query: text }),
      });
      const told = await response.text();
      const requests = program.requests();
      if (!told.includes('DOCUMENT_NOT_ALLOWED') || requests.length > 0)
        stray.push({ tag, text, told, requests });
    }
  expect(stray).toEqual([]);
});

it('no table, no tool and no address reads for a key what it may not', async () => {
  using folder = openFolder();
  const open = judged.filter(({ reads, variables }) => reads.size > 0 && variables === undefined);
  const named = open.map((question, i) => ({
    ...question,
    name: `Q${i}`,
    document: `"Question ${i}."\nquery Q${i} ${question.text}`,
  }));
  const refusals = TAGS.flatMap((tag) =>
    named.filter((one) => isOther(one, tag)).map((question) => ({ tag, ...question })),
  );
  expect(refusals.length).toBeGreaterThan(draws(500, 100));
  const trusted = join(folder.path, 'trusted.json');
  const published = join(folder.path, 'public.json');
  writeFileSync(
    trusted,
    JSON.stringify(Object.fromEntries(named.map(({ document }) => [sha256Of(document), document]))),
  );
  const addresses = refusals.map(({ tag, name }) => [`${name}-${tag}`, { document: name, key: tag }]);
  writeFileSync(published, JSON.stringify(Object.fromEntries(addresses)));
  const env = { ...WHOLE, MCP: 'on', TRUSTED_DOCUMENTS: trusted, PUBLIC_DOCUMENTS: published };
  await using program = await openIssuing({ ...folder, env });
  const keys = await keysOf(program);
  const address = (path: string) => new URL(path, program.url);
  const clients = new Map<string, Client>();
  for (const [tag, key] of keys) {
    const client = new Client({ name: 'test', version: '1' });
    const requestInit = { headers: { authorization: `Bearer ${key}` } };
    await client.connect(new StreamableHTTPClientTransport(address('/mcp'), { requestInit }));
    clients.set(tag, client);
  }
  const stray: unknown[] = [];
  for (const { tag, name, document } of refusals) {
    const table = await fetch(program.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'text/csv',
        authorization: `Bearer ${keys.get(tag)}`,
      },
      body: JSON.stringify({ query: document }),
    });
    const called = await clients.get(tag)?.callTool({ name, arguments: {} });
    const page = await fetch(address(`/c/${name}-${tag}.json`));
    const told = [await table.text(), JSON.stringify(called), await page.text()];
    const requests = program.requests();
    if (!told.every((one) => one.includes('DOCUMENT_NOT_ALLOWED')) || requests.length > 0)
      stray.push({ tag, document, told, requests });
  }
  for (const client of clients.values()) await client.close();
  expect(stray).toEqual([]);
});
