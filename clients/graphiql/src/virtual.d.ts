declare module 'virtual:africa' {
  /** Outlines of the 54 countries, and of Western Sahara (EH), GeoJSON. */
  export const africa: {
    readonly type: 'FeatureCollection';
    /** Width and height of all of them on the map of a globe with a radius of 1. */
    readonly extent: { readonly width: number; readonly height: number };
    readonly features: readonly {
      readonly type: 'Feature';
      readonly properties: {
        readonly code: string;
        /** Longitude and latitude in the middle of its largest part. */
        readonly centre: readonly [number, number];
        /** Whether it is too small to be seen on a map of the continent. */
        readonly isSmall: boolean;
      };
      readonly geometry: {
        readonly type: 'MultiPolygon';
        readonly coordinates: readonly import('./chart/detail.ts').Rings[];
      };
    }[];
  };
}
