/**
 * The entrance for plugins, published as `country-graph/plugin`: all that a plugin may import of the gateway. It has types,
 * marks and pure functions. What needs a gateway is handed to a plugin, as views that can't be changed.
 */
export type { KeptStore } from '../cache/kept-store.ts';
export { createLru, createObjectMemo } from '../cache/lru.ts';
export { SumsBook } from '../cache/sums.ts';
export { httpAddress, itemsOf, onOff, wholeNumber } from '../config/config.ts';
export { isAmong, isLoopback, originIn } from '../config/origins.ts';
export { remarksOnIdle } from '../config/remarks.ts';
export { acceptingInstead, formatLiked, withoutMultipart } from '../graphql/request/accept.ts';
export type { AnswerTable } from '../graphql/request/answer-tables.ts';
export { type HeldOperation, HeldOperations } from '../graphql/request/held-operations.ts';
export type { KeyHolder } from '../graphql/request/key-doors.ts';
export type { KeyTerms } from '../graphql/request/key-terms.ts';
export { isExplained } from '../graphql/request/plain-requests.ts';
export {
  ChangedRequest,
  type GatewayRequest,
  methodAnswered,
  RequestBatch,
} from '../graphql/request/requests.ts';
export { type GatewayResponse, refusalBody, VARIES, WrittenBody } from '../graphql/request/responses.ts';
export type { HandleRequest } from '../graphql/request/stages.ts';
export { isNothing, statusOfError } from '../graphql/request/statuses.ts';
export { checkMetricKey, checkStrings } from '../graphql/resolvers/argument-checks.ts';
export { recordField } from '../graphql/resolvers/record-field.ts';
export type { Absence, AbsenceNotes, AbsenceReason } from '../graphql/schema/context.ts';
export type {
  InputMaybe,
  Maybe,
  Resolver,
  ResolverTypeWrapper,
  Scalars,
} from '../graphql/schema/generated.ts';
export { looksIssued } from '../keys/tenant.ts';
export { visitorOf } from '../keys/visitor.ts';
export type { CameFigures, OutcomeOf } from '../observations/absences.ts';
export type { AttemptWatcher } from '../service/attempt.ts';
export { openBill } from '../service/bill.ts';
export type { Answer, Endpoint } from '../service/call.ts';
export { unreachable } from '../service/counted-budget.ts';
export { alpha2In, COVERED_COUNTRIES, checkCountry, countryNamedIn } from '../service/records/countries.ts';
export {
  blockIn,
  eachLocated,
  inside,
  integerIn,
  invalid,
  kindOf,
  labelIn,
  leftOutOf,
  numberIn,
  objectIn,
  type Place,
  type RowList,
  rowListIn,
  stringIn,
  sumOf,
  withLeftOut,
} from '../service/records/envelope.ts';
export { TAGS } from '../service/rights.ts';
export { errorNameOf, type Trace } from '../service/trace.ts';
export { arrowWriter, type TableWriter } from '../shared/arrow.ts';
export { mapValue, type PromiseOrValue, untilAborted } from '../shared/async/promises.ts';
export type { Steps } from '../shared/async/turns.ts';
export { boundedName } from '../shared/bounded-names.ts';
export { BYTE_ORDER_MARK, csvLine, jsonLine } from '../shared/cells.ts';
export {
  type DrawerSettings,
  type Drawing,
  type DrawingOrder,
  escaped,
  FRAME,
  frameOf,
  presentKind,
} from '../shared/drawings.ts';
export { errorBody, excerpt, Failure, messageOf } from '../shared/errors.ts';
export { isDeepJson, isObject, type JsonObject, numberOf, parseExactly } from '../shared/exact-json.ts';
export { once } from '../shared/once.ts';
export { periodIn, timeIn } from '../shared/periods.ts';
export { plain } from '../shared/plain-text.ts';
export { attributionHeader } from '../shared/source-names.ts';
export type { CallStage, OutgoingCall } from './calls.ts';
export {
  type CommandHost,
  definePlugin,
  type Plugin,
  type PluginDefinition,
  type PluginHost,
  type PluginServices,
  type RouteHost,
  type StartedServices,
} from './definition.ts';
export {
  type CachedFigures,
  type CountryParent,
  type FieldContext,
  type FieldPair,
  type GraphPart,
  type IndicatorParent,
  plainFieldsOf,
  readPart,
  type SourceParent,
  type Turns,
} from './graph.ts';
export type { Additions, AnswerReads, HandleOperation, Operation } from './operations.ts';
