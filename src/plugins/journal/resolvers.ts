import { type ResponsePath, responsePathAsArray } from 'graphql';
import { type FieldContext, type GraphPart, plainFieldsOf, readPart } from '../../plugin/index.ts';
import type { Resolvers, ResolversParentTypes } from './generated.ts';
import type { Reading } from './readings.ts';

const plainFields = plainFieldsOf<ResolversParentTypes>();

const pairFields = {
  country: ({ countryCode }: { readonly countryCode: string }) => ({ code: countryCode }),
  indicator: ({ metricKey }: { readonly metricKey: string }) => ({ key: metricKey }),
};

const resolversOver = (reading: Reading) =>
  ({
    Query: {
      async revisions(_, wanted, context, { path }) {
        const { revisions, leftOut } = await reading.revisions(wanted, context);
        if (leftOut !== null) warn(context, leftOut, path);
        return revisions;
      },
    },
    Country: {
      figureAsOf: ({ code }, { metricKey, ...wanted }, context) =>
        reading.figureAsOf({ countryCode: code, metricKey }, wanted, context),
      figuresAsOf: ({ code }, { metricKey, asOf }, context) =>
        reading.figuresAsOf({ countryCode: code, metricKey }, { asOf }, context),
    },
    Revision: {
      ...pairFields,
      ...plainFields('Revision', 'before', 'after', 'seenAt'),
    },
    RecordedFigure: {
      ...pairFields,
      ...plainFields('RecordedFigure', 'year', 'period', 'asOfPeriod', 'locationName', 'value', 'digits'),
      ...plainFields('RecordedFigure', 'unit', 'valueStatus', 'estimateLow', 'estimateHigh'),
      ...plainFields('RecordedFigure', 'datasetVersion', 'retrievedAt', 'seenAt'),
      source: ({ source }) => ({ key: source }),
    },
  }) satisfies Resolvers;

function warn({ warn: add }: FieldContext, message: string, path: ResponsePath): void {
  add({ code: 'ROWS_LEFT_OUT', message, path: responsePathAsArray(path) }, path);
}

const sdl = readPart(new URL('./journal.graphql', import.meta.url));

/** Each gateway has a journal of its own. */
export const partOver = (reading: Reading): GraphPart => ({ sdl, resolvers: resolversOver(reading) });
