import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../support/command.ts';
import { startServing } from '../support/serving.ts';

const BIN = resolve('bin/country-graph.cjs');

/** A copy of the contract that isn't the program's, as a plugin's own package has one. */
const HEAD = `
import { definePlugin, Failure } from '${pathToFileURL(resolve('src/plugin/index.ts'))}?copy';
import { z } from '${pathToFileURL(resolve('node_modules/zod/index.js'))}';
const plugin = (name, rest) => definePlugin({ name, settings: {}, open: () => null, ...rest });`;

const FILES: Readonly<Record<string, string>> = {
  'news.ts': `${HEAD}
let asked = 0;
export const news = plugin('news', {
  settings: { NEWS_WORD: z.string().min(3) },
  open: ({ NEWS_WORD }) => ({
    schema: [{
      sdl: 'extend type Country { news: String none: String }',
      resolvers: { Country: {
        news({ code }) { asked += 1; return NEWS_WORD + ' of ' + code; },
        none() { throw new Failure('FORBIDDEN', 'No news for you.'); },
      } },
    }],
    metrics: [{ kind: 'counter', name: 'news_asked', help: 'News.', labels: [], values: () => [{ value: asked }] }],
  }),
});`,
  'node_modules/@team/x/package.json': '{ "type": "module", "exports": { ".": { "import": "./x.js" } } }',
  'node_modules/@team/x/x.js': `${HEAD} export default plugin('x');`,
  'empty.js': 'export const nothing = 7;',
  'fault.js': 'throw new Error("a fault of the module");',
  'taken.js': `${HEAD} export default [plugin('batches'), plugin('own', { settings: { PORT: z.string() } })];`,
  'later.js': `${HEAD} export default { ...plugin('later'), contract: 2 };`,
  'open.js': `${HEAD} export default [
    plugin('closed', { open: () => ({ close() { console.log('closed'); } }) }),
    plugin('thrown', { open() { throw new Error('no door'); } }),
  ];`,
  'start.js': `${HEAD} export default [
    plugin('closed', { open: () => ({ close() { console.log('closed'); } }) }),
    plugin('thrown', { open: () => ({ start() { throw new Error('no start'); } }) }),
  ];`,
  'graph.js': `${HEAD} export default [
    plugin('closed', { open: () => ({ close() { console.log('closed'); } }) }),
    plugin('thrown', { open: () => ({ schema: [{ sdl: 'extend type Country { nobody: Int }', resolvers: {} }] }) }),
  ];`,
};

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'country-graph-plugins-'));
  await mkdir(join(folder, 'node_modules/@team/x'), { recursive: true });
  for (const [name, text] of Object.entries(FILES)) await writeFile(join(folder, name), text);
});
afterAll(() => rm(folder, { recursive: true }));

const run = (command: readonly string[], PLUGINS: string, env: Readonly<Record<string, string>> = {}) =>
  runCommand(command, { env: { PLUGINS, PORT: '0', ...env }, bin: BIN, cwd: folder });

describe('a plugin that PLUGINS names', () => {
  const named = './news.ts,@team/x';
  const env = { NEWS_WORD: 'news' };

  it.each(['1', '2'])(
    'a plugin that PLUGINS names is served with its field, metric and errors by %s process(es)',
    async (WORKERS) => {
      const { child, url, printed } = await startServing({
        env: { ...env, PLUGINS: named, WORKERS, ADMIN_PORT: '0', LOG_LEVEL: 'silent' },
        bin: BIN,
        cwd: folder,
      });
      try {
        const ask = async (query: string) => {
          const headers = { 'content-type': 'application/json', authorization: 'Bearer demo-team' };
          const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query }) });
          return answer.json();
        };
        const { data, extensions } = await ask('{ country(code: "KE") { news } }');
        expect([data, extensions.upstream.calls]).toEqual([{ country: { news: 'news of KE' } }, 0]);
        const refused = await ask('{ country(code: "KE") { none } }');
        expect(refused.errors).toMatchObject([
          { message: 'No news for you.', extensions: { code: 'FORBIDDEN' } },
        ]);
        const admin = /metrics are at (\S+)/.exec(printed())?.[1];
        expect(await (await fetch(`${admin}/metrics`)).text()).toMatch(/^news_asked [1-9]/m);
      } finally {
        child.kill();
      }
    },
  );

  it('a plugin that PLUGINS names is there for other commands, with its settings checked', async () => {
    const answered = await run(['query', '{ country(code: "KE") { news } }'], named, env);
    expect([JSON.parse(answered.stdout), answered.code]).toEqual([{ country: { news: 'news of KE' } }, 0]);
    expect((await run(['schema'], named, env)).stdout).toContain('news: String');
    const well = await run(['doctor'], named, env);
    expect(well.stdout).toContain('ok  plugins: news, of ./news.ts\nok  plugins: x, of @team/x\n');
    const unset = await run(['doctor'], named);
    expect([unset.stdout, unset.code]).toEqual([expect.stringContaining('NEWS_WORD: must be set'), 1]);
    const short = await run(['serve'], named, { NEWS_WORD: 'a' });
    expect([short.stderr, short.code]).toEqual([expect.stringMatching(/NEWS_WORD: .*\(got "a"\)/), 2]);
  });

  it.each([
    ['./gone.js', "can't be loaded: ENOENT"],
    ['@team/gone', "can't be loaded: Cannot find package '@team/gone'"],
    ['./fault.js', "can't be loaded: a fault of the module"],
    ['./empty.js', 'exports no plugin that definePlugin has made'],
    ['./taken.js', 'has a plugin named batches, as the program or another of them has'],
    ['./taken.js', 'has a setting named PORT, which there is already'],
    ['./later.js', 'is made for version 2 of the contract of plugins, and this program keeps to version 1'],
  ])('a plugin that PLUGINS names is refused where it can not be one: %s %s', async (specifier, why) => {
    const { stdout, stderr, code } = await run(['serve'], specifier);
    expect([stdout, stderr, code]).toEqual(['', expect.stringContaining(`PLUGINS: ${specifier} ${why}`), 2]);
    const doctor = await run(['doctor'], specifier);
    expect([doctor.stdout, doctor.code]).toEqual([expect.stringContaining(why), 1]);
  });

  it('a plugin that PLUGINS names is refused where anybody may write it', async () => {
    await writeFile(join(folder, 'open-to-all.js'), `${HEAD} export default plugin('open');`);
    await chmod(join(folder, 'open-to-all.js'), 0o666);
    const { stderr, code } = await run(['serve'], './open-to-all.js');
    expect([stderr, code]).toEqual([expect.stringContaining('anybody on this machine may write it'), 2]);
  });

  it.each([
    ['./open.js', /^The plugin thrown can't be opened: no door\n +at .*open\.js/m],
    ['./start.js', /^The plugin thrown can't be started: no start\n +at .*start\.js/m],
    ['./graph.js', /^The plugin thrown can't be put into the graph: .*Country\.nobody/m],
  ])(
    'a plugin that PLUGINS names ends the start where it fails, and the others are closed: %s',
    async (file, words) => {
      const { stdout, stderr, code } = await run(['serve'], file);
      expect([stdout, stderr, code]).toEqual(['closed\n', expect.stringMatching(words), 2]);
    },
  );
});
