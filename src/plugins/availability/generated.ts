import type { InputMaybe, Maybe, Resolver, ResolverTypeWrapper, Scalars } from '../../plugin/index.ts';
import type { GraphQLResolveInfo, GraphQLScalarType, GraphQLScalarTypeConfig } from 'graphql';
import type { CountryParent, IndicatorParent, SourceParent, FieldContext } from '../../plugin/index.ts';
import type { AvailabilityRecord } from './availability-record.ts';
import type { IndicatorAvailabilityRecord } from './indicator-availability.ts';
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

/** What is cached of an indicator's figures, over several countries. */
export type IndicatorAvailability = {
  readonly __typename?: 'IndicatorAvailability';
  /** Time as of which all of this was current. */
  readonly asOf: Scalars['DateTime']['output'];
  /** The countries with a cached figure, ordered by code, with all that is cached of each. */
  readonly countries: ReadonlyArray<Availability>;
  /** Number of countries with a cached figure. */
  readonly countryCount: Scalars['Int']['output'];
  /** Number of cached figures, including those of places. */
  readonly figures: Scalars['Int']['output'];
  /** Year of the earliest of these figures. */
  readonly firstYear: Scalars['Int']['output'];
  /** The indicator. */
  readonly indicator: Indicator;
  /** Year of the latest of these figures. */
  readonly lastYear: Scalars['Int']['output'];
  /** Number of countries of which nothing is cached. With 0, all others have no figure. */
  readonly unknownCount: Scalars['Int']['output'];
};

export type Query = {
  readonly __typename?: 'Query';
  /** Which indicators the gateway has cached figures of under your key, those of the most countries first. `country-graph fill --all --latest` caches a figure of each country and indicator that has any, in some twenty calls. Costs no call. */
  readonly availability: Maybe<ReadonlyArray<IndicatorAvailability>>;
};

export type QueryAvailabilityArgs = {
  countryCodes?: InputMaybe<ReadonlyArray<Scalars['CountryCode']['input']>>;
  fromYear?: InputMaybe<Scalars['Int']['input']>;
  search?: InputMaybe<Scalars['String']['input']>;
  toYear?: InputMaybe<Scalars['Int']['input']>;
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
  IndicatorAvailability: ResolverTypeWrapper<IndicatorAvailabilityRecord>;
  Int: ResolverTypeWrapper<Scalars['Int']['output']>;
  Query: ResolverTypeWrapper<Record<PropertyKey, never>>;
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
  IndicatorAvailability: IndicatorAvailabilityRecord;
  Int: Scalars['Int']['output'];
  Query: Record<PropertyKey, never>;
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

export type IndicatorAvailabilityResolvers<ContextType = FieldContext, ParentType extends ResolversParentTypes['IndicatorAvailability'] = ResolversParentTypes['IndicatorAvailability']> = {
  asOf?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  countries?: Resolver<ReadonlyArray<ResolversTypes['Availability']>, ParentType, ContextType>;
  countryCount?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  figures?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  firstYear?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  indicator?: Resolver<ResolversTypes['Indicator'], ParentType, ContextType>;
  lastYear?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  unknownCount?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
};

export type QueryResolvers<ContextType = FieldContext, ParentType extends ResolversParentTypes['Query'] = ResolversParentTypes['Query']> = {
  availability?: Resolver<Maybe<ReadonlyArray<ResolversTypes['IndicatorAvailability']>>, ParentType, ContextType, Partial<QueryAvailabilityArgs>>;
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
  IndicatorAvailability?: IndicatorAvailabilityResolvers<ContextType>;
  Query?: QueryResolvers<ContextType>;
  Source?: SourceResolvers<ContextType>;
};

