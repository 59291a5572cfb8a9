/** Types and helpers that every frontend of Country Graph needs, with any client library. */
export type {
  AnswerExtensions,
  ClientBill,
  CountryGraphError,
  ErrorExtensions,
  StaleAnswers,
  UpstreamBill,
  Warning,
  WarningCode,
} from './answers.ts';
export { codeOf, errorsOf, isErrorCode, isRetryable, retryAtOf, untilRetry } from './errors.ts';
export * from './schema.ts';
