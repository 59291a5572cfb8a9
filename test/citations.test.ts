import { describe, expect, it } from 'vitest';
import { type Cited, citationOf } from '../src/shared/citations.ts';

const CITED: Cited = {
  source: 'world_bank_wdi',
  named: null,
  title: 'Population, total, Kenya',
  period: '2024',
  via: { name: 'Data & Co', url: null },
  release: null,
  retrievedAt: null,
  dataUrl: null,
};

describe('a citation', () => {
  it.for<[string, Partial<Cited>, string]>([
    ['of a source without a name', {}, 'world_bank_wdi. Population, total, Kenya, 2024. Via Data & Co.'],
    [
      'of all that is known',
      {
        named: { name: 'World Bank', url: 'https://data.example/wdi' },
        via: { name: 'Data & Co', url: 'https://data.example/' },
        release: '2025-03',
        retrievedAt: '2026-07-24T03:10:00.5Z',
        dataUrl: 'https://service.example/v1/data?country_code=KE',
      },
      'World Bank. Population, total, Kenya, 2024. Dataset release 2025-03. Via Data & Co (https://data.example/). Retrieved 2026-07-24. https://data.example/wdi',
    ],
    [
      'of a source without a page',
      { named: { name: 'Bank Inc.', url: null }, dataUrl: 'https://service.example/v1/data' },
      'Bank Inc. Population, total, Kenya, 2024. Via Data & Co. https://service.example/v1/data',
    ],
    ['on one line', { title: 'Two\r\nlines' }, 'world_bank_wdi. Two lines, 2024. Via Data & Co.'],
  ])('a citation is a line of text: %s', ([, more, text]) => {
    expect(citationOf({ ...CITED, ...more }, 'TEXT')).toBe(text);
  });

  it('a citation is an entry of BibTeX, with its special characters marked', () => {
    const cited = {
      ...CITED,
      named: { name: 'R&D {50%}_$#~^\\', url: 'https://data.example/a_b?c=1&d={e}' },
      title: "Côte d'Ivoire: a & b",
      release: 'v1',
      retrievedAt: '2026-07-24T03:10:00Z',
    };
    expect(citationOf(cited, 'BIBTEX')).toBe(
      [
        '@misc{world_bank_wdi_cote_d_ivoire_a_b_2024_v1,',
        '  author = {{R\\&D \\{50\\%\\}\\_\\$\\#\\textasciitilde{}\\textasciicircum{}\\textbackslash{}}},',
        "  title = {{Côte d'Ivoire: a \\& b, 2024}},",
        '  version = {v1},',
        '  howpublished = {Via Data \\& Co},',
        '  year = {2026},',
        '  urldate = {2026-07-24},',
        '  url = {https://data.example/a_b?c=1&d=%7Be%7D}',
        '}',
      ].join('\n'),
    );
  });
});
