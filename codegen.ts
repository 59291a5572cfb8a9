import type { CodegenConfig } from '@graphql-codegen/cli';

/** Resolver types, from the SDL in `schema/` and from what our resolvers hand on for each type. */
const config: CodegenConfig = {
  schema: 'schema/*.graphql',
  generates: {
    'src/graph/generated.ts': {
      plugins: ['typescript', 'typescript-resolvers'],
      config: {
        federation: true,
        contextType: './context.ts#GraphContext',
        enumsAsTypes: true,
        useTypeImports: true,
        emitLegacyCommonJSImports: false,
        importExtension: '.ts',
        immutableTypes: true,
        useIndexSignature: false,
        makeResolverTypeCallable: true,
        avoidOptionals: false,
        scalars: { CountryCode: 'string', DateTime: 'string', JSON: 'unknown' },
        mappers: {
          Country: './sources.ts#CountryRef',
          CountryProfile: '../upstream/records/profiles.ts#ProfileRecord',
          ProfileIndicator: '../upstream/records/profiles.ts#ProfileIndicatorRecord',
          Signals: '../upstream/records/signals.ts#SignalsRecord',
          FxRate: '../upstream/records/signals.ts#FxRateRecord',
          CommodityBenchmark: '../upstream/records/signals.ts#CommodityBenchmarkRecord',
          DisasterAlert: '../upstream/records/signals.ts#DisasterAlertRecord',
          Indicator: './sources.ts#IndicatorRef',
          Source: './sources.ts#SourceRef',
          Freshness: './sources.ts#FreshnessRecord',
          Observation: '../upstream/records/observations.ts#ObservationRecord',
          Ticker: '../upstream/records/markets.ts#TickerRecord',
          Office: '../upstream/records/government.ts#OfficeRecord',
          Term: '../upstream/records/government.ts#TermRecord',
          Health: '../upstream/records/platform.ts#HealthRecord',
          PlatformVersion: '../upstream/records/platform.ts#VersionRecord',
          Quota: '../upstream/ledger.ts#QuotaRecord',
        },
      },
    },
  },
};

export default config;
