import type { Outcome, Price } from './fetching.ts';
import type { Host, Surroundings } from './given.ts';

export type PlanLimits = Host['plans'][string] & { readonly name: string };

/** Characters of a bar. */
const BAR = 24;

export function createProgress(
  { isTerminal, print, note, now }: Pick<Surroundings, 'isTerminal' | 'print' | 'note' | 'now'>,
  { json, plan }: { readonly json: boolean; readonly plan: PlanLimits },
) {
  let planned: ReturnType<typeof priceShown> | null = null;
  let calls = 0;
  let figures = 0;
  const startedAtMs = now();

  return {
    rows(received: number): void {
      figures += received;
    },
    priced(price: Price): void {
      planned = priceShown(price, plan);
      if (!json) note(wordsOf(planned));
    },
    called(requests: number): void {
      calls += requests;
      if (planned === null || json) return;
      const left = Math.max(0, planned.calls - calls);
      const inAll = Math.max(planned.calls, calls);
      const words = `${calls} of ${counted(inAll, 'call')}, ${counted(figures, 'figure')}, ${timeOf(left / planned.requestsPerMinute)} left`;
      note(
        isTerminal
          ? `\r[${'#'.repeat(Math.floor((BAR * calls) / inAll)).padEnd(BAR)}] ${words}\u001b[K`
          : `${words}\n`,
      );
    },
    over(outcome: Outcome | null, remark?: string): void {
      if (isTerminal && calls > 0 && !json) note('\n');
      const minutes = Math.round((now() - startedAtMs) / 60_000);
      if (json)
        print(
          `${JSON.stringify({ price: planned, bill: outcome && { ...outcome, rows: figures, minutes } })}\n`,
        );
      else if (outcome !== null) print(billOf(outcome, figures, minutes));
      if (remark !== undefined) note(`${remark}\n`);
    },
  };
}

function priceShown(
  { calls, hasSeries, assumedRows, figures, cached, operations, quota }: Price,
  plan: PlanLimits,
) {
  const requestsPerMinute = quota.requestsPerMinute ?? plan.requestsPerMinute;
  const monthlyRequests = quota.monthlyRequests ?? plan.monthlyRequests;
  return {
    calls,
    hasSeries,
    assumedRows,
    minutes: Math.max(0, Math.ceil(calls / requestsPerMinute) - 1),
    shareOfMonth: calls / monthlyRequests,
    plan: quota.plan ?? plan.name,
    isPlanAssumed: quota.requestsPerMinute === null,
    requestsPerMinute,
    monthlyRequests,
    callsThisMonth: quota.callsThisMonth,
    figures,
    cached,
    operations,
  };
}

function wordsOf(shown: ReturnType<typeof priceShown>): string {
  const { calls, figures, cached, operations, plan, requestsPerMinute, monthlyRequests } = shown;
  const assumed = shown.isPlanAssumed ? ', assumed: --plan names another' : '';
  return [
    `${figures === 1 ? '1 figure or series' : `${figures} figures and series`}, ${cached} of them cached; ${counted(operations, 'operation')}`,
    `Up to ${counted(calls, 'call')}: ${timeOf(shown.minutes)} at ${requestsPerMinute} a minute (plan ${plan}${assumed}), ${percent(shown.shareOfMonth)} of a month's ${monthlyRequests}, of which ${shown.callsThisMonth} are spent`,
    ...(shown.hasSeries
      ? [
          `Series are taken to have up to ${shown.assumedRows} figures. No further call is sent without being asked for`,
        ]
      : []),
    '',
  ].join('\n');
}

function billOf(
  { calls, byRoute, errors, remarks, stopped, quota }: Outcome,
  figures: number,
  minutes: number,
): string {
  const routes = Object.entries(byRoute).map(([route, count]) => `  ${String(count).padStart(6)}  ${route}`);
  const failures = Object.entries(errors).map(([code, count]) => `  ${String(count).padStart(6)}  ${code}`);
  return [
    `${counted(calls, 'call')} in ${timeOf(minutes)}, ${counted(figures, 'figure')}; ${counted(quota.callsThisMonth, 'call')} this month`,
    ...routes,
    ...(failures.length === 0 ? [] : ['could not be fetched:', ...failures]),
    ...remarks,
    ...(stopped === null ? [] : [stopped]),
    '',
  ].join('\n');
}

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;

const percent = (share: number) => `${(share * 100).toFixed(1)} %`;

function timeOf(minutes: number): string {
  const whole = Math.ceil(minutes);
  if (whole === 0) return 'less than a minute';
  return whole < 60 ? `${whole} min` : `${Math.floor(whole / 60)} h ${whole % 60} min`;
}
