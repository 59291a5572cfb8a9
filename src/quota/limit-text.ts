import { numberOf } from '../exact-json.ts';

/** Limits that the service told in a 429. */
export interface ToldLimits {
  readonly isMonthly: boolean;
  readonly plan: string | null;
  readonly requestsPerMinute: number | null;
  readonly monthlyRequests: number | null;
}

/** Limits of the plans as the service publishes them, for texts that name a plan but not all its figures. */
const PUBLISHED_PLANS: Readonly<Record<string, { requestsPerMinute: number; monthlyRequests: number }>> = {
  free: { requestsPerMinute: 5, monthlyRequests: 1_000 },
  analyst: { requestsPerMinute: 60, monthlyRequests: 250_000 },
  team: { requestsPerMinute: 1_000, monthlyRequests: 2_000_000 },
};

/** Tells if words that came with another status are those of a 429. */
export function isAboutLimit(words: string): boolean {
  return /\brate[ _-]?limit|monthly request limit|too many requests/i.test(words);
}

/** Reads the text of a 429, completed by the published limits of the plan that it names. */
export function toldLimits(detail: string): ToldLimits {
  const told = readLimitText(detail);
  const published = told.plan === null ? undefined : PUBLISHED_PLANS[told.plan];
  return {
    ...told,
    requestsPerMinute: told.requestsPerMinute ?? published?.requestsPerMinute ?? null,
    monthlyRequests: told.monthlyRequests ?? published?.monthlyRequests ?? null,
  };
}

/** Reads a whole number, with or without marks between its thousands. */
function figureIn(digits: string): number | null {
  return numberOf(digits.replace(/[,_]/g, ''));
}

/** Reads the text of a 429. The two kinds differ by the phrase `monthly request limit` alone. */
export function readLimitText(detail: string): ToldLimits {
  const isMonthly = /monthly request limit/i.test(detail);
  const plan =
    /\b(free|analyst|team)\b/i.exec(detail)?.[1] ??
    /\bplan\b\s*(?:is\s+|key\s+)?[:=]?\s*["'`(]([\w-]+)["'`)]/i.exec(detail)?.[1] ??
    /["'`]([\w-]+)["'`]\s+plan\b/i.exec(detail)?.[1] ??
    null;
  const figures = [...detail.matchAll(/\d[\d,_]*/g)].flatMap(([digits]) => figureIn(digits) ?? []);
  const perMinute = /(\d[\d,_]*)\s*(?:requests?|calls?|req)?\s*(?:per|\/|a|each)\s*min/i.exec(detail)?.[1];
  return {
    isMonthly,
    plan: plan?.toLowerCase() ?? null,
    requestsPerMinute: isMonthly
      ? null
      : perMinute !== undefined
        ? figureIn(perMinute)
        : (figures[0] ?? null),
    monthlyRequests: isMonthly && figures.length > 0 ? Math.max(...figures) : null,
  };
}
