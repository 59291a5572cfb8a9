import type { InputMaybe, Maybe, Resolver, ResolverTypeWrapper, Scalars } from '../../plugin/index.ts';
import type { GraphQLResolveInfo, GraphQLScalarType, GraphQLScalarTypeConfig } from 'graphql';
import type { CountryParent, IndicatorParent, SourceParent, FieldContext } from '../../plugin/index.ts';
import type { RecordedFigureRecord, RevisionRecord } from './records.ts';
export type RequireFields<T, K extends keyof T> = Omit<T, K> & { [P in K]-?: NonNullable<T[P]> };
export type Country = {
  readonly __typename?: 'Country';
  /** A national figure as it was known at a time: what the gateway had last seen by then under your key; null if it had seen that there was none. Costs no call, and never gives today's figure: if nothing was recorded by then, the error is `NOT_RECORDED`. */
  readonly figureAsOf: Maybe<RecordedFigure>;
  /** The whole series of one indicator as it was known at a time, places included: the earliest figure first. Costs no call. If the gateway hadn't seen the whole series by then, the error is `NOT_RECORDED`. */
  readonly figuresAsOf: Maybe<ReadonlyArray<RecordedFigure>>;
};

export type CountryFigureAsOfArgs = {
  asOf: Scalars['DateTime']['input'];
  metricKey: Scalars['String']['input'];
  year?: InputMaybe<Scalars['Int']['input']>;
};

export type CountryFiguresAsOfArgs = {
  asOf: Scalars['DateTime']['input'];
  metricKey: Scalars['String']['input'];
};

/** A measure in the catalogue. */
export type Indicator = {
  readonly __typename?: 'Indicator';
  /** Global identifier. */
  readonly id: Scalars['ID']['output'];
};

export type Query = {
  readonly __typename?: 'Query';
  /** What has changed in figures, as the gateway has seen it under your key: the latest change first. A figure is the same one whatever its value, release, status or unit, so a new release of it is a revision. What the gateway saw first is none. Costs no call. */
  readonly revisions: Maybe<ReadonlyArray<Revision>>;
};

export type QueryRevisionsArgs = {
  countryCodes: ReadonlyArray<Scalars['CountryCode']['input']>;
  first?: Scalars['Int']['input'];
  metricKeys: ReadonlyArray<Scalars['String']['input']>;
  since?: InputMaybe<Scalars['DateTime']['input']>;
};

/** A figure as it was at some time. */
export type RecordedFigure = {
  readonly __typename?: 'RecordedFigure';
  /** For a stock figure, its point in time; null for a flow over the period. */
  readonly asOfPeriod: Maybe<Scalars['String']['output']>;
  /** The country. */
  readonly country: Country;
  /** Provider's dataset release of the figure; null if none was named. */
  readonly datasetVersion: Maybe<Scalars['String']['output']>;
  /** The figure with all digits that the service sent. */
  readonly digits: Scalars['String']['output'];
  /** Provider's upper bound around an estimate; null if none was published. */
  readonly estimateHigh: Maybe<Scalars['Float']['output']>;
  /** Provider's lower bound around an estimate; null if none was published. */
  readonly estimateLow: Maybe<Scalars['Float']['output']>;
  /** The indicator. */
  readonly indicator: Indicator;
  /** Place of the figure within the country; null for the whole country. */
  readonly locationName: Maybe<Scalars['String']['output']>;
  /** The period covered, as the service spelt it. */
  readonly period: Scalars['String']['output'];
  /** Time at which the platform had retrieved the value when the gateway first saw it, in UTC. */
  readonly retrievedAt: Scalars['DateTime']['output'];
  /** Time at which the gateway first saw the figure so. */
  readonly seenAt: Scalars['DateTime']['output'];
  /** The body that published the figure. `key` is free. */
  readonly source: Source;
  /** Unit as the source stated it. */
  readonly unit: Scalars['String']['output'];
  /** The figure. A zero is a real zero. */
  readonly value: Scalars['Float']['output'];
  /** The provider's own classification, such as `reported`. */
  readonly valueStatus: Scalars['String']['output'];
  /** The year that the figure describes. */
  readonly year: Scalars['Int']['output'];
};

/** One change of a figure. */
export type Revision = {
  readonly __typename?: 'Revision';
  /** The figure after; null if it was withdrawn. */
  readonly after: Maybe<RecordedFigure>;
  /** The figure before; null if it was not there. */
  readonly before: Maybe<RecordedFigure>;
  /** The country. */
  readonly country: Country;
  /** The indicator. */
  readonly indicator: Indicator;
  /** Time at which the gateway first saw the change. */
  readonly seenAt: Scalars['DateTime']['output'];
};

/** A body that publishes figures which the service carries. */
export type Source = {
  readonly __typename?: 'Source';
  /** Global identifier. */
  readonly id: Scalars['ID']['output'];
};

/** Mapping between all available schema types and the resolvers types */
export type ResolversTypes = {
  Boolean: ResolverTypeWrapper<Scalars['Boolean']['output']>;
  Country: ResolverTypeWrapper<CountryParent>;
  CountryCode: ResolverTypeWrapper<Scalars['CountryCode']['output']>;
  DateTime: ResolverTypeWrapper<Scalars['DateTime']['output']>;
  Float: ResolverTypeWrapper<Scalars['Float']['output']>;
  ID: ResolverTypeWrapper<Scalars['ID']['output']>;
  Indicator: ResolverTypeWrapper<IndicatorParent>;
  Int: ResolverTypeWrapper<Scalars['Int']['output']>;
  Query: ResolverTypeWrapper<Record<PropertyKey, never>>;
  RecordedFigure: ResolverTypeWrapper<RecordedFigureRecord>;
  Revision: ResolverTypeWrapper<RevisionRecord>;
  Source: ResolverTypeWrapper<SourceParent>;
  String: ResolverTypeWrapper<Scalars['String']['output']>;
};

/** Mapping between all available schema types and the resolvers parents */
export type ResolversParentTypes = {
  Boolean: Scalars['Boolean']['output'];
  Country: CountryParent;
  CountryCode: Scalars['CountryCode']['output'];
  DateTime: Scalars['DateTime']['output'];
  Float: Scalars['Float']['output'];
  ID: Scalars['ID']['output'];
  Indicator: IndicatorParent;
  Int: Scalars['Int']['output'];
  Query: Record<PropertyKey, never>;
  RecordedFigure: RecordedFigureRecord;
  Revision: RevisionRecord;
  Source: SourceParent;
  String: Scalars['String']['output'];
};

export type CountryResolvers<ContextType = FieldContext, ParentType extends ResolversParentTypes['Country'] = ResolversParentTypes['Country']> = {
  figureAsOf?: Resolver<Maybe<ResolversTypes['RecordedFigure']>, ParentType, ContextType, RequireFields<CountryFigureAsOfArgs, 'asOf' | 'metricKey'>>;
  figuresAsOf?: Resolver<Maybe<ReadonlyArray<ResolversTypes['RecordedFigure']>>, ParentType, ContextType, RequireFields<CountryFiguresAsOfArgs, 'asOf' | 'metricKey'>>;
};

export type IndicatorResolvers<ContextType = FieldContext, ParentType extends ResolversParentTypes['Indicator'] = ResolversParentTypes['Indicator']> = {
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
};

export type QueryResolvers<ContextType = FieldContext, ParentType extends ResolversParentTypes['Query'] = ResolversParentTypes['Query']> = {
  revisions?: Resolver<Maybe<ReadonlyArray<ResolversTypes['Revision']>>, ParentType, ContextType, RequireFields<QueryRevisionsArgs, 'countryCodes' | 'first' | 'metricKeys'>>;
};

export type RecordedFigureResolvers<ContextType = FieldContext, ParentType extends ResolversParentTypes['RecordedFigure'] = ResolversParentTypes['RecordedFigure']> = {
  asOfPeriod?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  country?: Resolver<ResolversTypes['Country'], ParentType, ContextType>;
  datasetVersion?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  digits?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  estimateHigh?: Resolver<Maybe<ResolversTypes['Float']>, ParentType, ContextType>;
  estimateLow?: Resolver<Maybe<ResolversTypes['Float']>, ParentType, ContextType>;
  indicator?: Resolver<ResolversTypes['Indicator'], ParentType, ContextType>;
  locationName?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  period?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  retrievedAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  seenAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  source?: Resolver<ResolversTypes['Source'], ParentType, ContextType>;
  unit?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  value?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
  valueStatus?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  year?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
};

export type RevisionResolvers<ContextType = FieldContext, ParentType extends ResolversParentTypes['Revision'] = ResolversParentTypes['Revision']> = {
  after?: Resolver<Maybe<ResolversTypes['RecordedFigure']>, ParentType, ContextType>;
  before?: Resolver<Maybe<ResolversTypes['RecordedFigure']>, ParentType, ContextType>;
  country?: Resolver<ResolversTypes['Country'], ParentType, ContextType>;
  indicator?: Resolver<ResolversTypes['Indicator'], ParentType, ContextType>;
  seenAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
};

export type SourceResolvers<ContextType = FieldContext, ParentType extends ResolversParentTypes['Source'] = ResolversParentTypes['Source']> = {
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
};

export type Resolvers<ContextType = FieldContext> = {
  Country?: CountryResolvers<ContextType>;
  CountryCode?: GraphQLScalarType;
  DateTime?: GraphQLScalarType;
  Indicator?: IndicatorResolvers<ContextType>;
  Query?: QueryResolvers<ContextType>;
  RecordedFigure?: RecordedFigureResolvers<ContextType>;
  Revision?: RevisionResolvers<ContextType>;
  Source?: SourceResolvers<ContextType>;
};

