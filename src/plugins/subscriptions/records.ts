import type { FieldContext } from '../../plugin/index.ts';

/** The objects behind the types of the plugin, by the names that GraphQL Code Generator's file looks for. */
type Changes = NonNullable<FieldContext['changes']>;
type Followed<Method extends keyof Changes> =
  Awaited<ReturnType<Changes[Method]>> extends AsyncIterable<infer Parent> ? Parent : never;

/** The parents of the fields of `Subscription`. */
export type FiguresChange = Followed<'figures'>;
export type SourceChange = Followed<'sources'>;

export type ObservationChangesRecord = NonNullable<FiguresChange['value']>;
export type ObservationChangeRecord = ObservationChangesRecord['changes'][number];
export type ObservationRecord = ObservationChangeRecord['observation'];
export type FormerObservationRecord = ObservationRecord;
