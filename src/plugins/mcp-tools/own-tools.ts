/** Searches the catalogue. Admitted beside the trusted documents wherever there are tools. */
export const CATALOGUE_SEARCH =
  'query CatalogueSearch($words: String!) { indicators(search: $words) { key name unit category hasData } }';
