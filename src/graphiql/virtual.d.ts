declare module 'virtual:africa' {
  /** Outlines of the 54 countries, GeoJSON. */
  export const africa: {
    readonly type: 'FeatureCollection';
    readonly features: readonly {
      readonly type: 'Feature';
      readonly properties: { readonly code: string };
      readonly geometry: unknown;
    }[];
  };
}
