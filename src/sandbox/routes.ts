// Written by `npm run codegen`.
import type { Route } from './route.ts';
import * as countries from './routes/countries.ts';
import * as government from './routes/government.ts';
import * as indicators from './routes/indicators.ts';
import * as markets from './routes/markets.ts';
import * as observations from './routes/observations.ts';
import * as platform from './routes/platform.ts';
import * as policies from './routes/policies.ts';
import * as trade from './routes/trade.ts';

/** The routes of the service; all GET. */
export const routes: readonly Route[] = [...countries.routes, ...government.routes, ...indicators.routes, ...markets.routes, ...observations.routes, ...platform.routes, ...policies.routes, ...trade.routes];
