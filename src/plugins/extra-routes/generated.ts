import type { InputMaybe, Maybe, Resolver, ResolverTypeWrapper, Scalars } from '../../plugin/index.ts';
import type { GraphQLResolveInfo, GraphQLScalarType, GraphQLScalarTypeConfig } from 'graphql';
import type { CountryParent, SourceParent, FieldContext } from '../../plugin/index.ts';
import type { PolicyRecord, PolicyOverviewRecord, TradeOverviewRecord, TradeFlowRecord, TradePartnerRecord, TradeProductRecord } from './records.ts';
export type Country = {
  readonly __typename?: 'Country';
  /** Policies of the country. One `/v1/policies` call per country; for many countries, `Query.policies` takes one for all of them. */
  readonly policies: Maybe<ReadonlyArray<Policy>>;
  /** Overview of the country's policies; null if there are none. One `/v1/policies/country/{code}` call per country. */
  readonly policyOverview: Maybe<PolicyOverview>;
  /** Flows that the country reports. One `/v1/trade/flows` call per country. If a list fills an answer (1,000 rows), further calls complete it, or a warning says that it is incomplete. */
  readonly tradeFlows: Maybe<ReadonlyArray<TradeFlow>>;
  /** Overview of the country's trade; null if there is none. One `/v1/trade/overview/{code}` call per country. */
  readonly tradeOverview: Maybe<TradeOverview>;
  /** Countries that the country trades with. One `/v1/trade/partners` call per country; the route offers no way to fetch further rows, so a list that may be truncated has a warning. */
  readonly tradePartners: Maybe<ReadonlyArray<TradePartner>>;
  /** Products that the country trades in. One `/v1/trade/products` call per country; the route offers no way to fetch further rows, so a list that may be truncated has a warning. */
  readonly tradeProducts: Maybe<ReadonlyArray<TradeProduct>>;
};

export type CountryPoliciesArgs = {
  documentType?: InputMaybe<PolicyDocumentType>;
  fromYear?: InputMaybe<Scalars['Int']['input']>;
  search?: InputMaybe<Scalars['String']['input']>;
  status?: InputMaybe<PolicyStatus>;
  toYear?: InputMaybe<Scalars['Int']['input']>;
};

export type CountryPolicyOverviewArgs = {
  top?: InputMaybe<Scalars['Int']['input']>;
};

export type CountryTradeFlowsArgs = {
  flowType?: InputMaybe<TradeFlowType>;
  fromYear?: InputMaybe<Scalars['Int']['input']>;
  partnerCode?: InputMaybe<Scalars['CountryCode']['input']>;
  productCode?: InputMaybe<Scalars['String']['input']>;
  toYear?: InputMaybe<Scalars['Int']['input']>;
};

export type CountryTradeOverviewArgs = {
  fromYear?: InputMaybe<Scalars['Int']['input']>;
  toYear?: InputMaybe<Scalars['Int']['input']>;
  top?: InputMaybe<Scalars['Int']['input']>;
};

/** A policy of a country, as its record has it. */
export type Policy = {
  readonly __typename?: 'Policy';
  /** The country; null if the record names none. */
  readonly country: Maybe<Country>;
  /** Kind of document, as the record words it, such as `law`. */
  readonly documentType: Maybe<Scalars['String']['output']>;
  /** Day it was published, `YYYY-MM-DD`; null if the record doesn't say. */
  readonly publishedAt: Maybe<Scalars['String']['output']>;
  /** The record exactly as the service sent it. */
  readonly record: Scalars['JSON']['output'];
  /** Body that the record comes from. */
  readonly source: Maybe<Source>;
  /** Status, as the record words it, such as `active`. */
  readonly status: Maybe<Scalars['String']['output']>;
  /** Title of the policy; null if the record has none. */
  readonly title: Maybe<Scalars['String']['output']>;
  /** Wikidata identifier; null if the record has none. */
  readonly wikidataId: Maybe<Scalars['String']['output']>;
};

/** Kinds of documents, to filter policies. */
export type PolicyDocumentType =
  /** A bill that is not yet a law. */
  | 'BILL'
  /** A constitution. */
  | 'CONSTITUTION'
  /** A decree. */
  | 'DECREE'
  /** A law. */
  | 'LAW'
  /** Any other kind. */
  | 'OTHER'
  /** A policy. */
  | 'POLICY'
  /** A regulation. */
  | 'REGULATION'
  /** A strategy. */
  | 'STRATEGY';

/** Overview of a country's policies. */
export type PolicyOverview = {
  readonly __typename?: 'PolicyOverview';
  /** Number of policies in force; null if the record doesn't say. */
  readonly activePolicyCount: Maybe<Scalars['Int']['output']>;
  /** The country. */
  readonly country: Country;
  /** The policy published last; null if the record has none. */
  readonly latestPolicy: Maybe<Policy>;
  /** Recently published policies, as many as the service lists. */
  readonly recentPolicies: ReadonlyArray<Policy>;
  /** The record exactly as the service sent it. */
  readonly record: Scalars['JSON']['output'];
};

/** Statuses, to filter policies. */
export type PolicyStatus =
  /** In force. */
  | 'ACTIVE'
  /** Not yet in force. */
  | 'DRAFT'
  /** No longer in force. */
  | 'REPEALED'
  /** The record doesn't say. */
  | 'UNKNOWN';

export type Query = {
  readonly __typename?: 'Query';
  /**
   * Policies of all countries, or of one. One `/v1/policies` call for any number of countries. If a list fills an answer (500 rows), further calls by year complete it,
   * provided that the service's own count shows when it is complete; otherwise a warning says that the list is incomplete.
   */
  readonly policies: Maybe<ReadonlyArray<Policy>>;
  /**
   * Flows of goods by reporter, by partner, or by both. One `/v1/trade/flows` call. If a list fills an answer (1,000 rows), further calls by direction and year
   * complete it, or a warning says that it is incomplete.
   */
  readonly tradeFlows: Maybe<ReadonlyArray<TradeFlow>>;
};

export type QueryPoliciesArgs = {
  countryCode?: InputMaybe<Scalars['CountryCode']['input']>;
  documentType?: InputMaybe<PolicyDocumentType>;
  fromYear?: InputMaybe<Scalars['Int']['input']>;
  search?: InputMaybe<Scalars['String']['input']>;
  status?: InputMaybe<PolicyStatus>;
  toYear?: InputMaybe<Scalars['Int']['input']>;
};

export type QueryTradeFlowsArgs = {
  flowType?: InputMaybe<TradeFlowType>;
  fromYear?: InputMaybe<Scalars['Int']['input']>;
  partnerCode?: InputMaybe<Scalars['CountryCode']['input']>;
  productCode?: InputMaybe<Scalars['String']['input']>;
  reporterCode?: InputMaybe<Scalars['CountryCode']['input']>;
  toYear?: InputMaybe<Scalars['Int']['input']>;
};

/** A body that publishes figures which the service carries. */
export type Source = {
  readonly __typename?: 'Source';
  /** Global identifier. */
  readonly id: Scalars['ID']['output'];
};

/** A flow of goods between two countries. Only the parameters of the route are fields; values, units and everything else are in `record`. */
export type TradeFlow = {
  readonly __typename?: 'TradeFlow';
  /** Direction, as the record words it, such as `export`; null if the record doesn't say. */
  readonly flowType: Maybe<Scalars['String']['output']>;
  /** Code of the other country, in upper case; null if the record doesn't say. */
  readonly partnerCode: Maybe<Scalars['CountryCode']['output']>;
  /** Code of the product; null if the record doesn't say. */
  readonly productCode: Maybe<Scalars['String']['output']>;
  /** The record exactly as the service sent it. */
  readonly record: Scalars['JSON']['output'];
  /** Code of the country that reports it, in upper case; null if the record doesn't say. */
  readonly reporterCode: Maybe<Scalars['CountryCode']['output']>;
  /** The year of the flow; null if the record doesn't say. */
  readonly year: Maybe<Scalars['Int']['output']>;
};

/** Direction of goods. */
export type TradeFlowType =
  /** From the reporter to the partner. */
  | 'EXPORT'
  /** From the partner to the reporter. */
  | 'IMPORT';

/** Overview of a country's trade. Its fields are not specified: they are all in `record`. */
export type TradeOverview = {
  readonly __typename?: 'TradeOverview';
  /** The country. */
  readonly country: Country;
  /** The record exactly as the service sent it. */
  readonly record: Scalars['JSON']['output'];
};

/** A country that another one trades with. Its other fields are not specified: they are all in `record`. */
export type TradePartner = {
  readonly __typename?: 'TradePartner';
  /** Code of the partner, in upper case; null if the record doesn't say. */
  readonly partnerCode: Maybe<Scalars['CountryCode']['output']>;
  /** The record exactly as the service sent it. */
  readonly record: Scalars['JSON']['output'];
};

/** A product that a country trades in. Its other fields are not specified: they are all in `record`. */
export type TradeProduct = {
  readonly __typename?: 'TradeProduct';
  /** Code of the product; null if the record doesn't say. */
  readonly productCode: Maybe<Scalars['String']['output']>;
  /** The record exactly as the service sent it. */
  readonly record: Scalars['JSON']['output'];
};

/** Mapping between all available schema types and the resolvers types */
export type ResolversTypes = {
  Boolean: ResolverTypeWrapper<Scalars['Boolean']['output']>;
  Country: ResolverTypeWrapper<CountryParent>;
  CountryCode: ResolverTypeWrapper<Scalars['CountryCode']['output']>;
  ID: ResolverTypeWrapper<Scalars['ID']['output']>;
  Int: ResolverTypeWrapper<Scalars['Int']['output']>;
  JSON: ResolverTypeWrapper<Scalars['JSON']['output']>;
  Policy: ResolverTypeWrapper<PolicyRecord>;
  PolicyDocumentType: PolicyDocumentType;
  PolicyOverview: ResolverTypeWrapper<PolicyOverviewRecord>;
  PolicyStatus: PolicyStatus;
  Query: ResolverTypeWrapper<Record<PropertyKey, never>>;
  Source: ResolverTypeWrapper<SourceParent>;
  String: ResolverTypeWrapper<Scalars['String']['output']>;
  TradeFlow: ResolverTypeWrapper<TradeFlowRecord>;
  TradeFlowType: TradeFlowType;
  TradeOverview: ResolverTypeWrapper<TradeOverviewRecord>;
  TradePartner: ResolverTypeWrapper<TradePartnerRecord>;
  TradeProduct: ResolverTypeWrapper<TradeProductRecord>;
};

/** Mapping between all available schema types and the resolvers parents */
export type ResolversParentTypes = {
  Boolean: Scalars['Boolean']['output'];
  Country: CountryParent;
  CountryCode: Scalars['CountryCode']['output'];
  ID: Scalars['ID']['output'];
  Int: Scalars['Int']['output'];
  JSON: Scalars['JSON']['output'];
  Policy: PolicyRecord;
  PolicyOverview: PolicyOverviewRecord;
  Query: Record<PropertyKey, never>;
  Source: SourceParent;
  String: Scalars['String']['output'];
  TradeFlow: TradeFlowRecord;
  TradeOverview: TradeOverviewRecord;
  TradePartner: TradePartnerRecord;
  TradeProduct: TradeProductRecord;
};

export type CountryResolvers<ContextType = FieldContext, ParentType extends ResolversParentTypes['Country'] = ResolversParentTypes['Country']> = {
  policies?: Resolver<Maybe<ReadonlyArray<ResolversTypes['Policy']>>, ParentType, ContextType, Partial<CountryPoliciesArgs>>;
  policyOverview?: Resolver<Maybe<ResolversTypes['PolicyOverview']>, ParentType, ContextType, Partial<CountryPolicyOverviewArgs>>;
  tradeFlows?: Resolver<Maybe<ReadonlyArray<ResolversTypes['TradeFlow']>>, ParentType, ContextType, Partial<CountryTradeFlowsArgs>>;
  tradeOverview?: Resolver<Maybe<ResolversTypes['TradeOverview']>, ParentType, ContextType, Partial<CountryTradeOverviewArgs>>;
  tradePartners?: Resolver<Maybe<ReadonlyArray<ResolversTypes['TradePartner']>>, ParentType, ContextType>;
  tradeProducts?: Resolver<Maybe<ReadonlyArray<ResolversTypes['TradeProduct']>>, ParentType, ContextType>;
};

export type PolicyResolvers<ContextType = FieldContext, ParentType extends ResolversParentTypes['Policy'] = ResolversParentTypes['Policy']> = {
  country?: Resolver<Maybe<ResolversTypes['Country']>, ParentType, ContextType>;
  documentType?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  publishedAt?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  record?: Resolver<ResolversTypes['JSON'], ParentType, ContextType>;
  source?: Resolver<Maybe<ResolversTypes['Source']>, ParentType, ContextType>;
  status?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  title?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  wikidataId?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
};

export type PolicyOverviewResolvers<ContextType = FieldContext, ParentType extends ResolversParentTypes['PolicyOverview'] = ResolversParentTypes['PolicyOverview']> = {
  activePolicyCount?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType>;
  country?: Resolver<ResolversTypes['Country'], ParentType, ContextType>;
  latestPolicy?: Resolver<Maybe<ResolversTypes['Policy']>, ParentType, ContextType>;
  recentPolicies?: Resolver<ReadonlyArray<ResolversTypes['Policy']>, ParentType, ContextType>;
  record?: Resolver<ResolversTypes['JSON'], ParentType, ContextType>;
};

export type QueryResolvers<ContextType = FieldContext, ParentType extends ResolversParentTypes['Query'] = ResolversParentTypes['Query']> = {
  policies?: Resolver<Maybe<ReadonlyArray<ResolversTypes['Policy']>>, ParentType, ContextType, Partial<QueryPoliciesArgs>>;
  tradeFlows?: Resolver<Maybe<ReadonlyArray<ResolversTypes['TradeFlow']>>, ParentType, ContextType, Partial<QueryTradeFlowsArgs>>;
};

export type SourceResolvers<ContextType = FieldContext, ParentType extends ResolversParentTypes['Source'] = ResolversParentTypes['Source']> = {
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
};

export type TradeFlowResolvers<ContextType = FieldContext, ParentType extends ResolversParentTypes['TradeFlow'] = ResolversParentTypes['TradeFlow']> = {
  flowType?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  partnerCode?: Resolver<Maybe<ResolversTypes['CountryCode']>, ParentType, ContextType>;
  productCode?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  record?: Resolver<ResolversTypes['JSON'], ParentType, ContextType>;
  reporterCode?: Resolver<Maybe<ResolversTypes['CountryCode']>, ParentType, ContextType>;
  year?: Resolver<Maybe<ResolversTypes['Int']>, ParentType, ContextType>;
};

export type TradeOverviewResolvers<ContextType = FieldContext, ParentType extends ResolversParentTypes['TradeOverview'] = ResolversParentTypes['TradeOverview']> = {
  country?: Resolver<ResolversTypes['Country'], ParentType, ContextType>;
  record?: Resolver<ResolversTypes['JSON'], ParentType, ContextType>;
};

export type TradePartnerResolvers<ContextType = FieldContext, ParentType extends ResolversParentTypes['TradePartner'] = ResolversParentTypes['TradePartner']> = {
  partnerCode?: Resolver<Maybe<ResolversTypes['CountryCode']>, ParentType, ContextType>;
  record?: Resolver<ResolversTypes['JSON'], ParentType, ContextType>;
};

export type TradeProductResolvers<ContextType = FieldContext, ParentType extends ResolversParentTypes['TradeProduct'] = ResolversParentTypes['TradeProduct']> = {
  productCode?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  record?: Resolver<ResolversTypes['JSON'], ParentType, ContextType>;
};

export type Resolvers<ContextType = FieldContext> = {
  Country?: CountryResolvers<ContextType>;
  CountryCode?: GraphQLScalarType;
  JSON?: GraphQLScalarType;
  Policy?: PolicyResolvers<ContextType>;
  PolicyOverview?: PolicyOverviewResolvers<ContextType>;
  Query?: QueryResolvers<ContextType>;
  Source?: SourceResolvers<ContextType>;
  TradeFlow?: TradeFlowResolvers<ContextType>;
  TradeOverview?: TradeOverviewResolvers<ContextType>;
  TradePartner?: TradePartnerResolvers<ContextType>;
  TradeProduct?: TradeProductResolvers<ContextType>;
};

