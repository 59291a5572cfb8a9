import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { type ConfigData, HtmlValidate } from 'html-validate';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPublishing } from '../address/publishing.ts';
import { hasProgram } from '../support/programs.ts';
import { CARD, RANKED } from '../tools/documents.ts';

/*
 * What the gateway serves, before the eyes of other people's checkers: Redocly's of OpenAPI, html-validate, libxml2 and
 * Ajv. Each test also gives its checker something wrong, which it has to find.
 */

/** Rules of how sources are written, which Biome has its own of; and boxes of one list have one name. */
const HTML_STYLE: ConfigData['rules'] = {
  'form-dup-name': ['error', { shared: ['radio', 'checkbox', 'submit', 'button', 'reset'] }],
  'doctype-style': ['error', { style: 'lowercase' }],
  'void-style': 'off',
  'no-trailing-whitespace': 'off',
};

const PAGES = [
  ...['lines', 'bars', 'map', 'scatter', 'card?code=KE', 'lines?theme=dark'].map((page) => `/c/${page}`),
  '/graphiql',
];
const REFUSED = ['/c/lines?codes=K', '/c/nothing', '/c/card'];

const PICTURES = ['lines', 'bars', 'map', 'scatter'].flatMap((name) =>
  ['', '?width=320', '?theme=dark', '?bare=1'].map((look) => `/c/${name}.svg${look}`),
);

let program: Awaited<ReturnType<typeof openPublishing>>;

beforeAll(async () => {
  program = await openPublishing({ env: { MCP: 'on' } });
  await program.issue({ name: 'page' });
});
afterAll(() => program[Symbol.asyncDispose]());

const textAt = async (path: string) =>
  (await program.at(path, { redirect: 'follow', headers: { accept: 'text/html, */*;q=0.1' } })).text();

describe('checkers find nothing wrong', () => {
  it('checkers find nothing wrong with /openapi.json', async () => {
    const config = await createConfig({
      extends: ['recommended-strict'],
      // The licence of figures is that of their sources, which each document's metadata name.
      rules: { 'info-license': 'off' },
    });
    const problemsIn = async (source: string) =>
      (await lintFromString({ source, absoluteRef: 'openapi.json', config })).map(
        ({ ruleId, message, location }) => `${ruleId} at ${location[0]?.pointer}: ${message}`,
      );
    const source = await textAt('/openapi.json');
    expect(await problemsIn(source)).toEqual([]);
    expect(await problemsIn(source.replace('"responses"', '"answers"'))).not.toEqual([]);
  });

  it('checkers find nothing wrong with pages, and those of refusals', async () => {
    const checker = new HtmlValidate({ extends: ['html-validate:recommended'], rules: HTML_STYLE });
    const problemsIn = async (html: string) =>
      (await checker.validateString(html)).results.flatMap(({ messages }) =>
        messages.map(({ ruleId, message, selector }) => `${ruleId}: ${message} ${selector}`),
      );
    for (const path of [...PAGES, ...REFUSED]) {
      const html = await textAt(path);
      expect([path, html.slice(0, 15).toLowerCase()]).toEqual([path, '<!doctype html>']);
      expect([path, await problemsIn(html)]).toEqual([path, []]);
    }
    // Of four pictures, a card, and the names of sources.
    expect(program.requests().length).toBeLessThanOrEqual(6);
    expect(
      await problemsIn('<!doctype html><html lang="en"><title>a</title><p><div></div></p></html>'),
    ).not.toEqual([]);
  });

  it.skipIf(!hasProgram('xmllint'))('checkers find nothing wrong with the XML of pictures', async () => {
    const parse = (xml: string | Buffer) =>
      execFileSync('xmllint', ['--noout', '--nonet', '--pedantic', '-'], {
        input: xml,
        encoding: 'utf8',
        stdio: 'pipe',
      });
    for (const path of PICTURES) {
      const svg = await textAt(path);
      expect([path, svg.slice(0, 5)]).toEqual([path, '<svg ']);
      // Identifiers are those of one document.
      const ids = [...svg.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
      expect([path, new Set(ids).size]).toEqual([path, ids.length]);
      parse(svg);
    }
    for (const file of globSync('docs/images/*.svg')) parse(readFileSync(file));
    expect(() => parse('<svg><text>&nbsp;</text></svg>')).toThrow();
  });

  it('checkers find nothing wrong with the schemas of tools, by which a tool answers', async () => {
    const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
    formats.default(ajv);
    await using tools = await openPublishing({
      documents: { card: CARD, ranked: RANKED },
      published: {},
      env: { MCP: 'on' },
    });
    const ask = async (method: string, params: object) => {
      const reply = await tools.at('/mcp', {
        method: 'POST',
        headers: {
          accept: 'application/json',
          'content-type': 'application/json',
          authorization: 'Bearer demo-team',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      });
      // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
      return (await reply.json()).result as any;
    };
    const listed = (await ask('tools/list', {})).tools;
    expect(listed).toHaveLength(4);
    for (const { name, inputSchema, outputSchema } of listed) {
      const takes = ajv.compile(inputSchema);
      const gives = ajv.compile(outputSchema ?? {});
      if (name !== 'Card') continue;
      expect([takes({ code: 'KE' }), takes({}), takes({ code: 1 })]).toEqual([true, false, false]);
      const { structuredContent } = await ask('tools/call', { name, arguments: { code: 'KE' } });
      expect([name, gives(structuredContent), gives.errors]).toEqual([name, true, null]);
    }
    expect(tools.requests()).toHaveLength(2);
  });
});
