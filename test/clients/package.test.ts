import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { codegen } from '@graphql-codegen/core';
import * as typescript from '@graphql-codegen/typescript';
import { Kind, parse } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packingProblems } from '../support/publishable.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** The compilers that frontends have today: TypeScript 7, and 5.9 with the recipes. */
const COMPILERS = [
  join(ROOT, 'node_modules/.bin/tsc'),
  join(ROOT, 'clients/recipes/node_modules/.bin/tsc'),
].filter((path) => process.env.CI === 'true' || existsSync(path));

const CONSUMER = `
import { codeOf, ErrorCode, isRetryable, type AnswerExtensions, type Country, type Observation } from '@country-graph/client';
import { possibleTypes, typePolicies } from '@country-graph/client/apollo';
import { type ClientBill, holdFigures } from '@country-graph/client/figures';
import { keys } from '@country-graph/client/graphcache';

export function words(code: ErrorCode): string {
  switch (code) {
    CASES
  }
}
export const bill = (extensions: AnswerExtensions): number => extensions.upstream.calls;
export const value = (one: Observation): number | null | undefined => one.value;
export const code = (one: Country): string => one.code;
export const policies: object = { possibleTypes, typePolicies, keys };
export const held = (bill: ClientBill): number => bill.held;
export const figures: typeof fetch = holdFigures({ url: 'https://gateway.example/graphql' }).fetch;
export const again: boolean = isRetryable(new Error(String(codeOf({}))));
`;

describe('the packed client', () => {
  const folder = mkdtempSync(join(tmpdir(), 'country-graph-client-'));
  let codes: string[] = [];
  let tarball = '';

  beforeAll(async () => {
    execFileSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', 'clients/client'], { cwd: ROOT });
    const packed = execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], {
      cwd: join(ROOT, 'clients/client'),
      encoding: 'utf8',
    }).trim();
    const home = join(folder, 'node_modules/@country-graph/client');
    mkdirSync(home, { recursive: true });
    tarball = join(folder, packed);
    execFileSync('tar', ['-xzf', tarball, '--strip-components=1', '-C', home]);
    ({ ErrorCode: codes } = await import(join(home, 'dist/index.js')).then((all) => ({
      ErrorCode: Object.keys(all.ErrorCode),
    })));
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: {
          strict: true,
          noEmit: true,
          module: 'nodenext',
          target: 'es2022',
          lib: ['es2022', 'dom'],
          types: [],
        },
        include: ['*.ts', '*.cts'],
      }),
    );
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const compiled = (compiler: string, cases: readonly string[]): string => {
    const text = cases.map((code) => `case ErrorCode.${code}: return '${code}';`).join('\n    ');
    writeFileSync(join(folder, 'consumer.ts'), CONSUMER.replace('CASES', text));
    try {
      return execFileSync(compiler, ['-p', folder], { encoding: 'utf8' });
    } catch (failure) {
      return String((failure as { stdout: string }).stdout);
    }
  };

  it('the packed client says what it is and under which licence, and no address that is not known yet', () => {
    const home = join(folder, 'node_modules/@country-graph/client');
    expect(readFileSync(join(home, 'LICENSE'), 'utf8')).toBe(readFileSync(join(ROOT, 'LICENSE'), 'utf8'));
    expect(readFileSync(join(home, 'README.md'), 'utf8')).toMatch(/^# @country-graph\/client\n/);
    const { repository } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
    expect(repository).toBeUndefined();
  });

  it('the packed client has entries and types that every bundler and compiler of modules finds', async () => {
    expect(await packingProblems(tarball)).toEqual([]);
  });

  it('the packed client tells generators of types what the scalars are', async () => {
    const home = join(folder, 'node_modules/@country-graph/client');
    const { scalars } = await import(join(home, 'dist/codegen.js'));
    const schema = parse(readFileSync(join(ROOT, 'schema/common.graphql'), 'utf8'));
    const ours = schema.definitions.flatMap((one) =>
      one.kind === Kind.SCALAR_TYPE_DEFINITION ? one.name.value : [],
    );
    expect(Object.keys(scalars).toSorted()).toEqual(ours.toSorted());
    const generated = await codegen({
      filename: 'types.ts',
      schema,
      documents: [],
      config: { scalars, strictScalars: true },
      plugins: [{ typescript: {} }],
      pluginMap: { typescript },
    });
    expect(generated).toMatch(/CountryCode: \{ input: string; output: string; \}/);
    expect(generated).toMatch(/JSON: \{ input: unknown; output: unknown; \}/);
  });

  it.for(['', '/apollo', '/codegen', '/figures', '/graphcache', '/testing'])(
    'the packed client is CommonJS for those who take no other: %s',
    (part) => {
      const text = `const all = require('@country-graph/client${part}'); process.stdout.write(Object.keys(all).join())`;
      const said = execFileSync(
        process.execPath,
        ['--no-experimental-require-module', '--input-type=commonjs', '-e', text],
        {
          cwd: folder,
          encoding: 'utf8',
        },
      );
      expect(said.split(',').length).toBeGreaterThan(0);
      expect(said).toMatch(/\w/);
    },
  );

  it.for(COMPILERS)('the packed client has types for CommonJS: %s', (compiler) => {
    const consumer = join(folder, 'consumer.cts');
    writeFileSync(
      consumer,
      CONSUMER.replace('CASES', codes.map((code) => `case ErrorCode.${code}: return '';`).join('\n')),
    );
    try {
      writeFileSync(join(folder, 'consumer.ts'), 'export {};');
      execFileSync(compiler, ['-p', folder], { encoding: 'utf8' });
    } finally {
      rmSync(consumer);
    }
  });

  it.for(COMPILERS)('the packed client has types that hold under strict: %s', (compiler) => {
    expect(codes.length).toBeGreaterThan(15);
    expect(compiled(compiler, codes)).toBe('');
  });

  it.for(COMPILERS)('the packed client has a switch over codes that lacks one refused: %s', (compiler) => {
    expect(compiled(compiler, codes.slice(1))).toContain('TS2366');
  });
});
