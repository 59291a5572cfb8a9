import type { PageContent } from './page.ts';

/** What a page shows, for programs. */
export interface PageMetadata {
  readonly title: string;
  readonly description: string;
  readonly url: string;
  readonly attribution: PageContent['attribution'];
  readonly isSynthetic: boolean;
  /** Null if the answer has no figures. */
  readonly figures: NonNullable<PageContent['facts']>['metadata'] | null;
  /** The data by their types, as absolute addresses. */
  readonly files: readonly (readonly [type: string, url: string])[];
}

export function metadataText({ figures, files, ...page }: PageMetadata): string {
  const { figures: count = 0, ...told } = figures ?? {};
  const data = files.map(([type, url]) => ({ type, url }));
  return JSON.stringify({ ...page, figures: count, ...told, data }, null, 2);
}

/** As search engines read it (schema.org). */
export function datasetOf({ title, description, url, attribution, figures, files }: PageMetadata): object {
  const { fromYear, toYear, indicators = [], countries = [], sources = [] } = figures ?? {};
  const organizations = sources.map(({ key, name, url: page }) => organization(name ?? key, page));
  const licences = sources.flatMap(({ licence }) => licence ?? []);
  const retrieved = sources.flatMap(({ retrievedAt }) => retrievedAt ?? []).sort();
  return withoutEmpty({
    '@context': 'https://schema.org',
    '@type': 'Dataset',
    name: title,
    description,
    url,
    isAccessibleForFree: true,
    creator: organizations,
    publisher: organization(attribution.name, attribution.url),
    license: [...new Set(licences)],
    version: [...new Set(sources.flatMap(({ releases }) => releases))].join(', '),
    dateModified: retrieved.at(-1),
    temporalCoverage: fromYear == null ? '' : `${fromYear}/${toYear}`,
    spatialCoverage: countries.map(({ name }) => name),
    variableMeasured: indicators.map(({ name, units }) =>
      withoutEmpty({ '@type': 'PropertyValue', name, unitText: units.join(', ') }),
    ),
    distribution: files.map(([encodingFormat, contentUrl]) => ({
      '@type': 'DataDownload',
      encodingFormat,
      contentUrl,
    })),
  });
}

const organization = (name: string, url: string | null) =>
  withoutEmpty({ '@type': 'Organization', name, url: url ?? '' });

function withoutEmpty(members: Readonly<Record<string, unknown>>): object {
  const isEmpty = (value: unknown) =>
    value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries(members).filter(([, value]) => !isEmpty(value)));
}
