import type { InputMaybe, Maybe, Resolver, ResolverTypeWrapper, Scalars } from '../../plugin/index.ts';
import type { GraphQLResolveInfo, GraphQLScalarType, GraphQLScalarTypeConfig } from 'graphql';
import type { SourceParent, FieldContext } from '../../plugin/index.ts';
import type { ObservationChangesRecord, ObservationChangeRecord, ObservationRecord, FormerObservationRecord } from './records.ts';
export type RequireFields<T, K extends keyof T> = Omit<T, K> & { [P in K]-?: NonNullable<T[P]> };
/** Kinds of change. */
export type ChangeKind =
  /** The figure is new. */
  | 'ADDED'
  /** The figure is gone. */
  | 'REMOVED'
  /** The figure has changed. A new time of retrieval alone is no change. */
  | 'REVISED';

/** A figure before a change. Its country, indicator and source are those of the current figure. */
export type FormerObservation = {
  readonly __typename?: 'FormerObservation';
  /** For a stock figure, its point in time; null for a flow over the period. */
  readonly asOfPeriod: Maybe<Scalars['String']['output']>;
  /** Provider's dataset release of the figure; null if none is named. */
  readonly datasetVersion: Maybe<Scalars['String']['output']>;
  /** Provider's upper bound around an estimate; null if none is published. */
  readonly estimateHigh: Maybe<Scalars['Float']['output']>;
  /** Provider's lower bound around an estimate; null if none is published. */
  readonly estimateLow: Maybe<Scalars['Float']['output']>;
  /** True if the figure is anything other than reported: an estimate, projection, model output or imputation. */
  readonly isModelled: Scalars['Boolean']['output'];
  /** Place of the figure within the country; null for the whole country. */
  readonly locationName: Maybe<Scalars['String']['output']>;
  /** The period covered, as the service spells it. */
  readonly period: Scalars['String']['output'];
  /** The record exactly as the service sent it. */
  readonly record: Scalars['JSON']['output'];
  /** Time at which the platform retrieved the value from the source, in UTC. */
  readonly retrievedAt: Scalars['DateTime']['output'];
  /** Unit as the source states it; percentages name their whole. */
  readonly unit: Scalars['String']['output'];
  /** The figure. A zero is a real zero. */
  readonly value: Scalars['Float']['output'];
  /** The provider's own classification, such as `reported`. */
  readonly valueStatus: Scalars['String']['output'];
  /** The year that the figure describes. */
  readonly year: Scalars['Int']['output'];
};

/** A figure with its provenance. Where the service has no value there is no observation; a zero is a real zero. */
export type Observation = {
  readonly __typename?: 'Observation';
  /** Global identifier. It is made of country, indicator, year, period, point in time, place, source, release, status and unit, not of the value, so a row has the same one in a series, as the latest figure and as an operand. Given the identifier of an earlier release or status, `node` finds today's figure, with the warning `REVISED_SINCE`. */
  readonly id: Scalars['ID']['output'];
};

/** The change of one figure. */
export type ObservationChange = {
  readonly __typename?: 'ObservationChange';
  /** The previous figure; null if it was ADDED. It has no `id`, so that no client cache takes it for the current one. */
  readonly before: Maybe<FormerObservation>;
  /** Identifier of the figure in the previous event; null if it was ADDED. It is the `id` of `observation`, unless its release, status or unit has changed. */
  readonly formerId: Maybe<Scalars['ID']['output']>;
  /** Kind of the change. */
  readonly kind: ChangeKind;
  /** The current figure; if it was REMOVED, as it was last. */
  readonly observation: Observation;
};

/** Changes since the previous event. */
export type ObservationChanges = {
  readonly __typename?: 'ObservationChanges';
  /** Time of the event. */
  readonly at: Scalars['DateTime']['output'];
  /** One change per figure that differs. Empty in an event that only reports that the subscription is paused or resumed. */
  readonly changes: ReadonlyArray<ObservationChange>;
  /** True if these are all the figures, each as ADDED: discard any others. */
  readonly isWhole: Scalars['Boolean']['output'];
  /** Version of the current figures, for `since`. As text, it sorts after that of any earlier event. */
  readonly revision: Scalars['String']['output'];
};

/** A body that publishes figures which the service carries. */
export type Source = {
  readonly __typename?: 'Source';
  /** Global identifier. */
  readonly id: Scalars['ID']['output'];
};

/**
 * Changes as they happen, if the gateway offers them (`SUBSCRIPTIONS`): by server-sent events at `/graphql/stream` (the graphql-sse
 * protocol), or by WebSocket at `/graphql` (`graphql-transport-ws`). A slow reader gets several changes at once, and always the last one.
 */
export type Subscription = {
  readonly __typename?: 'Subscription';
  /**
   * Figures as they change: the difference between the current and the previous answer of `Query.observations` with the same arguments. The gateway sends nothing
   * until something changes. All subscriptions under one key share one `/v1/platform/etl-status` call per interval, and the `/v1/data` call for
   * figures whose sources have run.
   */
  readonly observationsChanged: Maybe<ObservationChanges>;
  /** A source, each time it has run. One `/v1/platform/etl-status` call per interval for all subscriptions under one key. */
  readonly sourceRefreshed: Maybe<Source>;
};

/**
 * Changes as they happen, if the gateway offers them (`SUBSCRIPTIONS`): by server-sent events at `/graphql/stream` (the graphql-sse
 * protocol), or by WebSocket at `/graphql` (`graphql-transport-ws`). A slow reader gets several changes at once, and always the last one.
 */
export type SubscriptionObservationsChangedArgs = {
  countryCodes?: InputMaybe<ReadonlyArray<Scalars['CountryCode']['input']>>;
  latest?: InputMaybe<Scalars['Boolean']['input']>;
  metricKeys?: InputMaybe<ReadonlyArray<Scalars['String']['input']>>;
  since?: InputMaybe<Scalars['String']['input']>;
};

/**
 * Changes as they happen, if the gateway offers them (`SUBSCRIPTIONS`): by server-sent events at `/graphql/stream` (the graphql-sse
 * protocol), or by WebSocket at `/graphql` (`graphql-transport-ws`). A slow reader gets several changes at once, and always the last one.
 */
export type SubscriptionSourceRefreshedArgs = {
  keys?: InputMaybe<ReadonlyArray<Scalars['String']['input']>>;
};

export type SubscriptionSubscribeFn<TResult, TParent, TContext, TArgs> = (
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo
) => AsyncIterable<TResult> | Promise<AsyncIterable<TResult>>;

export type SubscriptionResolveFn<TResult, TParent, TContext, TArgs> = (
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo
) => TResult | Promise<TResult>;

export interface SubscriptionSubscriberObject<TResult, TKey extends string, TParent, TContext, TArgs> {
  subscribe: SubscriptionSubscribeFn<{ [key in TKey]: TResult }, TParent, TContext, TArgs>;
  resolve?: SubscriptionResolveFn<TResult, { [key in TKey]: TResult }, TContext, TArgs>;
}

export interface SubscriptionResolverObject<TResult, TParent, TContext, TArgs> {
  subscribe: SubscriptionSubscribeFn<any, TParent, TContext, TArgs>;
  resolve: SubscriptionResolveFn<TResult, any, TContext, TArgs>;
}

export type SubscriptionObject<TResult, TKey extends string, TParent, TContext, TArgs> =
  | SubscriptionSubscriberObject<TResult, TKey, TParent, TContext, TArgs>
  | SubscriptionResolverObject<TResult, TParent, TContext, TArgs>;

export type SubscriptionResolver<TResult, TKey extends string, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>, TArgs = Record<PropertyKey, never>> =
  | ((...args: any[]) => SubscriptionObject<TResult, TKey, TParent, TContext, TArgs>)
  | SubscriptionObject<TResult, TKey, TParent, TContext, TArgs>;

/** Mapping between all available schema types and the resolvers types */
export type ResolversTypes = {
  Boolean: ResolverTypeWrapper<Scalars['Boolean']['output']>;
  ChangeKind: ChangeKind;
  CountryCode: ResolverTypeWrapper<Scalars['CountryCode']['output']>;
  DateTime: ResolverTypeWrapper<Scalars['DateTime']['output']>;
  Float: ResolverTypeWrapper<Scalars['Float']['output']>;
  FormerObservation: ResolverTypeWrapper<FormerObservationRecord>;
  ID: ResolverTypeWrapper<Scalars['ID']['output']>;
  Int: ResolverTypeWrapper<Scalars['Int']['output']>;
  JSON: ResolverTypeWrapper<Scalars['JSON']['output']>;
  Observation: ResolverTypeWrapper<ObservationRecord>;
  ObservationChange: ResolverTypeWrapper<ObservationChangeRecord>;
  ObservationChanges: ResolverTypeWrapper<ObservationChangesRecord>;
  Source: ResolverTypeWrapper<SourceParent>;
  String: ResolverTypeWrapper<Scalars['String']['output']>;
  Subscription: ResolverTypeWrapper<Record<PropertyKey, never>>;
};

/** Mapping between all available schema types and the resolvers parents */
export type ResolversParentTypes = {
  Boolean: Scalars['Boolean']['output'];
  CountryCode: Scalars['CountryCode']['output'];
  DateTime: Scalars['DateTime']['output'];
  Float: Scalars['Float']['output'];
  FormerObservation: FormerObservationRecord;
  ID: Scalars['ID']['output'];
  Int: Scalars['Int']['output'];
  JSON: Scalars['JSON']['output'];
  Observation: ObservationRecord;
  ObservationChange: ObservationChangeRecord;
  ObservationChanges: ObservationChangesRecord;
  Source: SourceParent;
  String: Scalars['String']['output'];
  Subscription: Record<PropertyKey, never>;
};

export type FormerObservationResolvers<ContextType = FieldContext, ParentType extends ResolversParentTypes['FormerObservation'] = ResolversParentTypes['FormerObservation']> = {
  asOfPeriod?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  datasetVersion?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  estimateHigh?: Resolver<Maybe<ResolversTypes['Float']>, ParentType, ContextType>;
  estimateLow?: Resolver<Maybe<ResolversTypes['Float']>, ParentType, ContextType>;
  isModelled?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  locationName?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  period?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  record?: Resolver<ResolversTypes['JSON'], ParentType, ContextType>;
  retrievedAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  unit?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  value?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
  valueStatus?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  year?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
};

export type ObservationResolvers<ContextType = FieldContext, ParentType extends ResolversParentTypes['Observation'] = ResolversParentTypes['Observation']> = {
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
};

export type ObservationChangeResolvers<ContextType = FieldContext, ParentType extends ResolversParentTypes['ObservationChange'] = ResolversParentTypes['ObservationChange']> = {
  before?: Resolver<Maybe<ResolversTypes['FormerObservation']>, ParentType, ContextType>;
  formerId?: Resolver<Maybe<ResolversTypes['ID']>, ParentType, ContextType>;
  kind?: Resolver<ResolversTypes['ChangeKind'], ParentType, ContextType>;
  observation?: Resolver<ResolversTypes['Observation'], ParentType, ContextType>;
};

export type ObservationChangesResolvers<ContextType = FieldContext, ParentType extends ResolversParentTypes['ObservationChanges'] = ResolversParentTypes['ObservationChanges']> = {
  at?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  changes?: Resolver<ReadonlyArray<ResolversTypes['ObservationChange']>, ParentType, ContextType>;
  isWhole?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  revision?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
};

export type SourceResolvers<ContextType = FieldContext, ParentType extends ResolversParentTypes['Source'] = ResolversParentTypes['Source']> = {
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
};

export type SubscriptionResolvers<ContextType = FieldContext, ParentType extends ResolversParentTypes['Subscription'] = ResolversParentTypes['Subscription']> = {
  observationsChanged?: SubscriptionResolver<Maybe<ResolversTypes['ObservationChanges']>, "observationsChanged", ParentType, ContextType, RequireFields<SubscriptionObservationsChangedArgs, 'latest'>>;
  sourceRefreshed?: SubscriptionResolver<Maybe<ResolversTypes['Source']>, "sourceRefreshed", ParentType, ContextType, Partial<SubscriptionSourceRefreshedArgs>>;
};

export type Resolvers<ContextType = FieldContext> = {
  CountryCode?: GraphQLScalarType;
  DateTime?: GraphQLScalarType;
  FormerObservation?: FormerObservationResolvers<ContextType>;
  JSON?: GraphQLScalarType;
  Observation?: ObservationResolvers<ContextType>;
  ObservationChange?: ObservationChangeResolvers<ContextType>;
  ObservationChanges?: ObservationChangesResolvers<ContextType>;
  Source?: SourceResolvers<ContextType>;
  Subscription?: SubscriptionResolvers<ContextType>;
};

