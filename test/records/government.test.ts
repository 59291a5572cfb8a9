import { describe, expect, it } from 'vitest';
import { decodeOffices } from '../../src/service/records/reference.ts';
import { threadMs } from '../support/thread-ms.ts';
import { failureOf, lackOf } from './failure-of.ts';

const ROUTE = '/v1/government/structure/{code}';

const ruto = { leader_name: 'William Ruto', start_date: '2022-09-13', end_date: null, status: 'current' };
const kenyatta = {
  leader_name: 'Uhuru Kenyatta',
  start_date: '2013-04-09',
  end_date: '2022-09-13',
  status: 'ended',
};
const president = { office_name: 'President', role_type: 'head_of_state' };

const records = [
  { holder: 'William Ruto', startDate: '2022-09-13', endDate: null, status: 'current', record: ruto },
  {
    holder: 'Uhuru Kenyatta',
    startDate: '2013-04-09',
    endDate: '2022-09-13',
    status: 'ended',
    record: kenyatta,
  },
];

const decode = (body: unknown) => decodeOffices(body, ROUTE, 'ke');

describe('offices with nested terms', () => {
  const terms = [ruto, kenyatta];
  const country = { code: 'ke', name: 'Kenya', region: 'East Africa' };
  const offices: [office: object][] = [
    [{ ...president, terms }],
    [{ ...president, holders: terms }],
    [{ ...president, office_holders: terms }],
    [{ name: 'President', role_type: 'head_of_state', terms }],
    [{ title: 'President', role_type: 'head_of_state', terms, status: 'active' }],
    [{ office: { name: 'President' }, role_type: 'head_of_state', terms }],
  ];
  const bodies: [shape: string, wrap: (office: object) => unknown][] = [
    ['{data: {country, offices}}', (office) => ({ data: { country, offices: [office] } })],
    ['{data: {country, structure}}', (office) => ({ data: { country, structure: [office] } })],
    ['{data: […]}', (office) => ({ data: [office] })],
    ['{country, offices}', (office) => ({ country, offices: [office] })],
    [
      '{structure: {country, offices}, meta}',
      (office) => ({ structure: { country, offices: [office] }, meta: {} }),
    ],
    ['{offices}', (office) => ({ offices: [office] })],
    ['[…]', (office) => [office]],
  ];
  const cases = offices.flatMap(([office]) => bodies.map(([shape, wrap]) => ({ office, shape, wrap })));

  it.each(cases)('offices with nested terms are read: $office in $shape', ({ office, wrap }) => {
    const decoded = decode(wrap(office));
    expect(decoded).toEqual([
      {
        countryCode: 'KE',
        name: 'President',
        ordinal: 0,
        roleType: 'head_of_state',
        terms: records,
        record: office,
      },
    ]);
    expect(decoded[0]?.record).toBe(office);
    expect(decoded[0]?.terms[0]?.record).toBe(ruto);
  });

  it('offices of the same name with nested terms are kept apart', () => {
    const office = { office_name: 'Deputy', terms: [ruto] };
    expect(decode([office, { ...office }]).map(({ ordinal }) => ordinal)).toEqual([0, 1]);
  });
});

describe('a flat list of terms', () => {
  const first = { ...president, ...ruto };
  const second = { ...president, ...kenyatta };
  const minister = { office_name: 'President', role_type: 'minister', holder: 'Nobody' };
  const bodies: [body: unknown][] = [
    [{ data: { country: { code: 'ke' }, terms: [first, minister, second] } }],
    [{ data: { country: { code: 'ke' }, holders: [first, minister, second] } }],
    [{ data: { offices: [first, minister, second] } }],
    [{ data: [first, minister, second] }],
    [{ terms: [first, minister, second] }],
    [[first, minister, second]],
  ];
  it.each(bodies)('a flat list of terms is grouped by office and role: %j', (body) => {
    expect(decode(body)).toEqual([
      {
        countryCode: 'KE',
        name: 'President',
        ordinal: 0,
        roleType: 'head_of_state',
        terms: [
          { ...records[0], record: first },
          { ...records[1], record: second },
        ],
        record: { office_name: 'President', role_type: 'head_of_state', terms: [first, second] },
      },
      {
        countryCode: 'KE',
        name: 'President',
        ordinal: 0,
        roleType: 'minister',
        terms: [{ holder: 'Nobody', startDate: null, endDate: null, status: null, record: minister }],
        record: { office_name: 'President', role_type: 'minister', terms: [minister] },
      },
    ]);
  });

  it('a flat list of terms joins terms that name no role to the office of their name', () => {
    const { role_type: _, ...bare } = first;
    for (const rows of [
      [bare, second],
      [second, bare],
    ]) {
      const offices = decode([...rows, { ...minister, office_name: 'Treasury' }]);
      expect(offices.map(({ name, roleType, terms }) => [name, roleType, terms.length])).toEqual([
        ['President', 'head_of_state', 2],
        ['Treasury', 'minister', 1],
      ]);
    }
  });

  it('a flat list of terms leaves out a term that names no office, among others that do', () => {
    const { office_name: _, ...nameless } = first;
    const offices = decode([nameless, second]);
    expect(offices.map(({ terms }) => terms.length)).toEqual([1]);
    expect(lackOf(offices)).toEqual({
      count: 1,
      detail: '[0].office_name: expected string, received undefined',
    });
    expect(decode([nameless]).map(({ name }) => name)).toEqual(['head_of_state']);
  });

  it('a flat list of terms takes no longer for each of many offices', () => {
    const terms = Array.from({ length: 30_000 }, (_, i) => ({ office_name: `o${i}`, leader_name: 'x' }));
    const before = process.threadCpuUsage();
    expect(decodeOffices({ data: terms }, ROUTE, 'KE')).toHaveLength(30_000);
    expect(threadMs(before)).toBeLessThan(4_000);
  });

  it('a flat list of terms joins offices that are listed beside it', () => {
    const [office, ...others] = decode({ data: { offices: [president], terms: [first, second] } });
    expect(others).toEqual([]);
    expect(office?.terms.map((term) => term.holder)).toEqual(['William Ruto', 'Uhuru Kenyatta']);
    expect(office?.record).toBe(president);
  });
});

describe('the fields of a term', () => {
  it.each([
    [{ holder: 'A' }, { holder: 'A' }],
    [{ holder: { name: 'A' } }, { holder: 'A' }],
    [{ holder_name: 'A' }, { holder: 'A' }],
    [{ leader_name: 'A' }, { holder: 'A' }],
    [{ person_name: 'A' }, { holder: 'A' }],
    [{ name: 'A' }, { holder: 'A' }],
    [
      { name: 'A', start_date: 2022, end_date: '', status: null },
      { startDate: null, endDate: null, status: null },
    ],
    [{ term_status: 'acting' }, { holder: null, status: 'acting' }],
    [{ record_status: 'acting' }, { status: 'acting' }],
  ])('the fields of a term are read: %j', (term, expected) => {
    expect(decode([{ ...president, terms: [term] }])[0]?.terms).toEqual([expect.objectContaining(expected)]);
  });

  it.each([
    [{ office_name: 'President', name: 'A', status: 'current' }, 'President', 'A'],
    [{ name: 'President', holder: 'A' }, 'President', 'A'],
    [{ name: 'President', status: 'vacant' }, 'President', null],
    [{ role_type: 'head_of_state', office_name: null, holder: 'A' }, 'head_of_state', 'A'],
  ])('the fields of a term tell office from holder in %j', (row, name, holder) => {
    expect(decode([row])).toEqual([
      expect.objectContaining({ name, terms: [expect.objectContaining({ holder })] }),
    ]);
  });
});

describe('what is not there', () => {
  it.each([
    [{ data: { country: { code: 'ke' }, offices: [] } }],
    [{ data: { country: { code: 'ke' }, offices: null } }],
    [{ data: [] }],
  ])('an answer without offices is read as such: %j', (body) => {
    expect(decode(body)).toEqual([]);
  });

  it.each([[president], [{ ...president, terms: [] }]])(
    'an office without terms is read as such: %j',
    (office) => {
      expect(decode([office])).toEqual([
        {
          countryCode: 'KE',
          name: 'President',
          ordinal: 0,
          roleType: 'head_of_state',
          terms: [],
          record: office,
        },
      ]);
    },
  );
});

describe('refusals', () => {
  const wrong: [body: unknown, detail: string][] = [
    [{ data: { country: {} } }, 'data: expected array, received object with 0 arrays'],
    [{ data: { offices: {} } }, 'data.offices: expected array, received object'],
    [{ data: { offices: [{}] } }, 'data.offices[0].office_name: expected string, received undefined'],
    [{ data: { offices: [{ title: 7 }] } }, 'data.offices[0].title: expected string, received number'],
    [{ data: { terms: ['A'] } }, 'data.terms[0]: expected object, received string'],
    ['none', 'body: expected array, received string'],
  ];
  it.each(wrong)("an answer that can't hold offices is refused: %j", (body, detail) => {
    const failure = failureOf(() => decode(body));
    expect(failure.code).toBe('UPSTREAM_INVALID_RESPONSE');
    expect(failure.fields).toEqual({ route: ROUTE, detail });
  });
});

describe('what is left out', () => {
  it('what is left out is a row that names no office; the others stand', () => {
    const offices = decode({ data: { offices: [{ ...president, terms: [ruto] }, {}, 7] } });
    expect(offices.map(({ name }) => name)).toEqual(['President']);
    expect(lackOf(offices)).toEqual({
      count: 2,
      detail: 'data.offices[1].office_name: expected string, received undefined',
    });
  });

  it('what is left out is one of two lists, where it is none', () => {
    const offices = decode({ data: { offices: 'none', terms: [{ ...president, ...ruto }] } });
    expect(offices).toHaveLength(1);
    expect(lackOf(offices)).toEqual({ count: 1, detail: 'data.offices: expected array, received string' });
  });

  it('what is left out is a list that is null, though nothing else was sent', () => {
    const offices = decode({ data: { offices: null } });
    expect(offices).toEqual([]);
    expect(lackOf(offices)).toEqual({ count: 1, detail: 'data.offices: expected array, received null' });
    expect(lackOf(decode({ data: { offices: [] } }))).toBeNull();
  });

  it.each([
    [['A', ruto], 1, 1, '[0].terms[0]: expected object, received string'],
    [undefined, 0, 1, '[0].terms: expected array, received undefined'],
    [{}, 0, 1, '[0].terms: expected array, received object'],
  ])('what is left out are terms in %j, and the office stands', (terms, kept, count, detail) => {
    const [office] = decode([{ ...president, terms }]);
    expect(office?.terms).toHaveLength(kept);
    expect(lackOf(office?.terms ?? [])).toEqual({ count, detail });
  });

  it('what is left out is nothing of an office that says it has no terms', () => {
    const [office] = decode([{ ...president, terms: [] }]);
    expect(lackOf(office?.terms ?? [])).toBeNull();
  });
});
