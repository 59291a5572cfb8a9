import { describe, expect, it } from 'vitest';
import { endpoints } from '../../../src/plugins/extra-routes/policy.ts';
import { failureOf, lackOf, NO_LISTS, NO_OBJECTS } from '../../records/failure-of.ts';

const { policies, policyOverview } = endpoints;
const NOW = 0;

const law = {
  wikidata_id: 'Q1',
  country_code: 'ke',
  title: 'Data Protection Act',
  document_type: 'law',
  policy_status: 'active',
  published_at: '2019-11-08',
  source: 'wikidata',
  extra: { whatever: ['there', 1] },
};
const record = {
  countryCode: 'KE',
  wikidataId: 'Q1',
  title: 'Data Protection Act',
  documentType: 'law',
  status: 'active',
  publishedAt: '2019-11-08',
  source: 'wikidata',
  record: law,
};
const nothing = {
  countryCode: null,
  wikidataId: null,
  title: null,
  documentType: null,
  status: null,
  publishedAt: null,
  source: null,
};

describe('policies', () => {
  const decode = (body: unknown, countryCode?: string) => policies.decode(body, { countryCode }, NOW);

  it.for([[[law]], [{ data: [law] }], [{ policies: [law] }]])(
    'policies says every field in our words and keeps what was sent: %j',
    ([body]) => {
      const { rows } = decode(body);
      expect(rows).toEqual([record]);
      expect(rows[0]?.record).toBe(law);
    },
  );

  it.for([
    ['nothing at all', {}, {}],
    ['nulls', Object.fromEntries(Object.keys(law).map((name) => [name, null])), {}],
    ['numbers', Object.fromEntries(Object.keys(law).map((name) => [name, 7])), {}],
    ['a code of three letters', { country_code: 'KEN' }, { countryCode: 'KE' }],
    ['a code under another name', { country: 'ug' }, { countryCode: 'UG' }],
    ['a code of no country', { country_code: 'Kenya' }, {}],
    ['a name for a title', { name: 'Act' }, { title: 'Act' }],
    ['a status under another name', { status: 'draft' }, { status: 'draft' }],
    ['both names of its status', { status: 'draft', policy_status: 'active' }, { status: 'active' }],
    ['a source that is an object', { source: { key: 'wikidata' } }, { source: 'wikidata' }],
    ['an empty text', { title: '', wikidata_id: '' }, {}],
  ] as const)('policies reads a row of %s', ([, row, read]) => {
    const { rows } = decode({ data: [row] });
    expect(rows).toEqual([{ ...nothing, ...read, record: row }]);
    expect(lackOf(rows)).toBeNull();
  });

  it('policies has rows that name no country be of the one that was asked for', () => {
    const { rows } = decode({ data: [{}] }, 'ke');
    expect(rows.map(({ countryCode }) => countryCode)).toEqual(['KE']);
  });

  it('policies leaves out what is no row, and says so', () => {
    const { rows } = decode({ data: [7, law, null, 'law'] });
    expect(rows).toEqual([record]);
    expect(lackOf(rows)).toEqual({ count: 3, detail: 'data[0]: expected object, received number' });
  });

  it.for(NO_LISTS)('policies is no list: %j', ([body, detail]) => {
    const { code, fields } = failureOf(() => decode(body));
    expect([code, fields.detail]).toEqual(['UPSTREAM_INVALID_RESPONSE', detail]);
  });
});

describe('policyOverview', () => {
  const decode = (body: unknown, code = 'ke') => policyOverview.decode(body, { code }, NOW);
  const overview = {
    country: { code: 'ug', name: 'Uganda' },
    latest_policy: law,
    active_policy_count: 12,
    recent_policies: [law, {}],
    extra: true,
  };

  it('policyOverview says every field in our words and keeps what was sent', () => {
    const decoded = decode({ data: overview }, 'ug');
    expect(decoded).toEqual({
      countryCode: 'UG',
      latestPolicy: record,
      activePolicyCount: 12,
      recentPolicies: [record, { ...nothing, countryCode: 'UG', record: {} }],
      record: overview,
    });
    expect(decoded.record).toBe(overview);
  });

  it.for([
    ['nothing of what is known', { data: {} }],
    [
      'nulls',
      { data: { country: null, latest_policy: null, active_policy_count: null, recent_policies: null } },
    ],
    ['a count that is none', { data: { active_policy_count: 'many', recent_policies: [] } }],
    ['a count of no whole policies', { data: { active_policy_count: 1.5 } }],
    ['a count beyond any', { data: { active_policy_count: 2 ** 31 } }],
  ] as const)('policyOverview reads an object of %s', ([, body]) => {
    const decoded = decode(body);
    expect(decoded).toMatchObject({
      countryCode: 'KE',
      latestPolicy: null,
      activePolicyCount: null,
      recentPolicies: [],
    });
    expect([lackOf(decoded), lackOf(decoded.recentPolicies)]).toEqual([null, null]);
  });

  it.for([
    ['Act', 'data.latest_policy: expected object, received string'],
    [[law], 'data.latest_policy: expected object, received array'],
  ] as const)('policyOverview says that the latest policy is none: %j', ([latest, detail]) => {
    const decoded = decode({ data: { ...overview, latest_policy: latest } }, 'ug');
    expect(decoded.latestPolicy).toBeNull();
    expect(lackOf(decoded)).toEqual({ count: 1, detail });
    expect(decoded.recentPolicies).toHaveLength(2);
  });

  it.for([
    [{}, [], 'data.recent_policies: expected array, received object'],
    [[law, 7], [record], 'data.recent_policies[1]: expected object, received number'],
  ] as const)('policyOverview says what recent policies lack: %j', ([recent, read, detail]) => {
    const { recentPolicies, latestPolicy } = decode({
      data: { latest_policy: law, recent_policies: recent },
    });
    expect(recentPolicies).toEqual(read);
    expect(lackOf(recentPolicies)).toEqual({ count: 1, detail });
    expect(latestPolicy).toEqual(record);
  });

  it.for(NO_OBJECTS)('policyOverview is no object: %j', ([body, detail]) => {
    const { code, fields } = failureOf(() => decode(body));
    expect([code, fields.detail]).toEqual(['UPSTREAM_INVALID_RESPONSE', detail]);
  });
});
