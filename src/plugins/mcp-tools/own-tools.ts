/** The operation by which tools search the catalogue. It may run beside the trusted documents where there are tools. */
export const CATALOGUE_SEARCH =
  'query CatalogueSearch($words: String!) { indicators(search: $words) { key name unit category hasData } }';
