import type { InputMaybe, Maybe, Resolver, ResolverTypeWrapper, Scalars } from '../../plugin/index.ts';
import type { GraphQLResolveInfo, GraphQLScalarType, GraphQLScalarTypeConfig } from 'graphql';
import type { CountryParent, IndicatorParent, SourceParent, FieldContext } from '../../plugin/index.ts';
import type { AvailabilityRecord } from './availability-record.ts';
/** What is cached of the figures of one country and indicator. */
export type Availability = {
  readonly __typename?: 'Availability';
  /** Time as of which all of this was current. */
  readonly asOf: Scalars['DateTime']['output'];
  /** The country. */
  readonly country: Country;
  /** Number of cached figures, including those of places. 0 means that the service has answered that it has none. */
  readonly figures: Scalars['Int']['output'];
  /** Year of the earliest of these figures; null if there are none. */
  readonly firstYear: Maybe<Scalars['Int']['output']>;
  /** The indicator. */
  readonly indicator: Indicator;
  /** True if these are all figures of the country and indicator: the whole series is cached. Otherwise the service may have others. */
  readonly isComplete: Scalars['Boolean']['output'];
  /** Year of the latest of these figures; null if there are none. */
  readonly lastYear: Maybe<Scalars['Int']['output']>;
  /** The sources of these figures, by their keys. */
  readonly sources: ReadonlyArray<Source>;
};

export type Country = {
  readonly __typename?: 'Country';
  /** What the gateway has cached of this country's figures under your key: one item per indicator of which anything is cached, ordered by key. Costs no call. */
  readonly availability: Maybe<ReadonlyArray<Availability>>;
};

export type CountryAvailabilityArgs = {
  metricKeys?: InputMaybe<ReadonlyArray<Scalars['String']['input']>>;
};

export type Indicator = {
  readonly __typename?: 'Indicator';
  /** What the gateway has cached of this indicator's figures under your key: one item per country of which anything is cached, ordered by code. Costs no call. */
  readonly availability: Maybe<ReadonlyArray<Availability>>;
};

export type IndicatorAvailabilityArgs = {
  countryCodes?: InputMaybe<ReadonlyArray<Scalars['CountryCode']['input']>>;
};

/** A body that publishes figures which the service carries. */
export type Source = {
  readonly __typename?: 'Source';
  /** Global identifier. */
  readonly id: Scalars['ID']['output'];
};

/** Mapping between all available schema types and the resolvers types */
export type ResolversTypes = {
  Availability: ResolverTypeWrapper<AvailabilityRecord>;
  Boolean: ResolverTypeWrapper<Scalars['Boolean']['output']>;
  Country: ResolverTypeWrapper<CountryParent>;
  CountryCode: ResolverTypeWrapper<Scalars['CountryCode']['output']>;
  DateTime: ResolverTypeWrapper<Scalars['DateTime']['output']>;
  ID: ResolverTypeWrapper<Scalars['ID']['output']>;
  Indicator: ResolverTypeWrapper<IndicatorParent>;
  Int: ResolverTypeWrapper<Scalars['Int']['output']>;
  Source: ResolverTypeWrapper<SourceParent>;
  String: ResolverTypeWrapper<Scalars['String']['output']>;
};

/** Mapping between all available schema types and the resolvers parents */
export type ResolversParentTypes = {
  Availability: AvailabilityRecord;
  Boolean: Scalars['Boolean']['output'];
  Country: CountryParent;
  CountryCode: Scalars['CountryCode']['output'];
  DateTime: Scalars['DateTime']['output'];
  ID: Scalars['ID']['output'];
  Indicator: IndicatorParent;
  Int: Scalars['Int']['output'];
  Source: SourceParent;
  String: Scalars['String']['output'];
};

export type AvailabilityResolvers<ContextType = FieldContext, ParentType extends ResolversParentTypes['Availability'] = ResolversParentTypes['Availability']> = {
  asOf?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  country?: Resolver<ResolversTypes['Country'], ParentType, ContextType>;
  figures?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  firstYear?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType>;
  indicator?: Resolver<ResolversTypes['Indicator'], ParentType, ContextType>;
  isComplete?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  lastYear?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType>;
  sources?: Resolver<ReadonlyArray<ResolversTypes['Source']>, ParentType, ContextType>;
};

export type CountryResolvers<ContextType = FieldContext, ParentType extends ResolversParentTypes['Country'] = ResolversParentTypes['Country']> = {
  availability?: Resolver<Maybe<ReadonlyArray<ResolversTypes['Availability']>>, ParentType, ContextType, Partial<CountryAvailabilityArgs>>;
};

export type IndicatorResolvers<ContextType = FieldContext, ParentType extends ResolversParentTypes['Indicator'] = ResolversParentTypes['Indicator']> = {
  availability?: Resolver<Maybe<ReadonlyArray<ResolversTypes['Availability']>>, ParentType, ContextType, Partial<IndicatorAvailabilityArgs>>;
};

export type SourceResolvers<ContextType = FieldContext, ParentType extends ResolversParentTypes['Source'] = ResolversParentTypes['Source']> = {
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
};

export type Resolvers<ContextType = FieldContext> = {
  Availability?: AvailabilityResolvers<ContextType>;
  Country?: CountryResolvers<ContextType>;
  CountryCode?: GraphQLScalarType;
  DateTime?: GraphQLScalarType;
  Indicator?: IndicatorResolvers<ContextType>;
  Source?: SourceResolvers<ContextType>;
};

