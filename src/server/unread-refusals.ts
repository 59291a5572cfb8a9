import type { Gateway } from '../gateway/gateway.ts';
import type { UnreadRefusals } from '../plugin/definition.ts';
import { type AnswerSending, headError, SHUTTING_DOWN } from './http.ts';

/** Why a plugin's routes are to refuse a request whose body hasn't been read. */
export const unreadRefusals = (gateway: Gateway, course: AnswerSending['course']): UnreadRefusals => ({
  ending: () => (course.isDraining ? SHUTTING_DOWN : null),
  malformed: ({ raw }) => headError(raw),
  overloaded({ headers, id }) {
    const refusal = gateway.refuseUnread(headers, id);
    return refusal && { retryAfter: refusal.headers.get('retry-after') };
  },
});
