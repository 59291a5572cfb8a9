import { faultIn, type Send, type Trace } from '../service/call.ts';

/** Makes a span for each call with all its attempts and waits; around the ring that tries again. */
export function tracedCalls(next: Send): Send {
  return (call, sending) => {
    const trace = sending.trace?.begin('upstream call', { 'url.template': call.route });
    return trace === undefined ? next(call, sending) : ended(trace, next(call, { ...sending, trace }));
  };
}

/** Makes a span for each request that is sent, which the service is told of; within the ring that bills them. */
export function tracedAttempts(next: Send): Send {
  return (call, sending) => {
    const { trace: parent } = sending;
    if (parent === undefined) return next(call, sending);
    const attempt = parent.begun;
    const trace = parent.begin(
      `GET ${call.route}`,
      {
        'http.request.method': 'GET',
        'url.template': call.route,
        ...(attempt > 0 ? { 'http.request.resend_count': attempt } : {}),
      },
      true,
    );
    const headers = { ...sending.headers, ...trace.headers() };
    const onStatus = (status: number) => trace.set({ 'http.response.status_code': status });
    return ended(trace, next(call, { ...sending, trace, headers, onStatus }));
  };
}

async function ended<Result>(trace: Trace, work: Promise<Result>): Promise<Result> {
  try {
    const result = await work;
    trace.end();
    return result;
  } catch (error) {
    trace.end(faultIn(error));
    throw error;
  }
}
