import { describe, expect, it } from 'vitest';
import { openPublishing } from '../address/publishing.ts';
import { openProgram } from '../support/program.ts';

const textOf = async (program: { readonly url: string }) => {
  const reply = await fetch(new URL('/llms.txt', program.url));
  return { status: reply.status, type: reply.headers.get('content-type'), text: await reply.text() };
};

describe('/llms.txt', () => {
  it('/llms.txt lists the public documents with forms, parameters and prices, at no call', async () => {
    await using program = await openPublishing();
    const { key } = await program.desk.create({ name: 'page' });
    const { status, type, text } = await textOf(program);
    expect([status, type]).toEqual([200, 'text/plain; charset=utf-8']);
    expect(text).toContain('## Public documents');
    expect(text).toContain(
      '- [People & <years>](c/lines): The population of some countries, year by year. A page; its data and picture are beside it as .json, .csv, .wide.csv, .arrow, .svg, .png, .html, .metadata.json. Parameters: codes, from. Costs 1 call(s) to the metered service where nothing is cached: at least 1, at most 60.',
    );
    expect(text).toMatch(/- \[card\]\(c\/card\): A page; .* as \.json, .*Parameters: code\. Costs 1 call/);
    expect(text).not.toContain('kept');
    expect(text).not.toContain('## Tools');
    for (const secret of [key, 'cgk_', 'demo-team']) expect(text).not.toContain(secret);
    expect(program.requests()).toEqual([]);
  });

  it('/llms.txt lists them beside tools', async () => {
    await using program = await openPublishing({ env: { MCP: 'on' } });
    const { text } = await textOf(program);
    expect(text).toContain('## Tools\n\n- **Lines**: ');
    expect(text).toContain('](c/lines): ');
    expect(program.requests()).toEqual([]);
  });

  it('/llms.txt is not there without either', async () => {
    await using program = await openProgram();
    expect((await textOf(program)).status).toBe(404);
  });
});
