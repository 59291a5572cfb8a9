/** What every frontend of Country Graph needs, whatever its client library. */
export type {
  AnswerExtensions,
  CountryGraphError,
  ErrorExtensions,
  StaleAnswers,
  UpstreamBill,
  Warning,
  WarningCode,
} from './answers.ts';
export { codeOf, errorsOf, isErrorCode, isRetryable, retryAtOf, untilRetry } from './errors.ts';
export * from './schema.ts';
