export interface Pair { readonly countryCode: string; readonly metricKey: string }
export interface Rectangle { readonly countryCodes: readonly string[]; readonly metricKeys: readonly string[] }
export interface CoverLimits { readonly maxRows: number; readonly maxCodes: number; readonly maxAddress: number }
export type RowsOf = (countryCode: string, metricKey: string) => number;
export function expectedRows(r: Rectangle, rowsOf: RowsOf): number { let n=0; for (const c of r.countryCodes) for (const m of r.metricKeys) n+=rowsOf(c,m); return n; }
export function cover(pairs: readonly Pair[], limits: CoverLimits, rowsOf: RowsOf): readonly Rectangle[] {
  const codes=[...new Set(pairs.map(p=>p.countryCode))], keys=[...new Set(pairs.map(p=>p.metricKey))];
  const r={countryCodes:codes, metricKeys:keys};
  if (expectedRows(r,rowsOf)<=limits.maxRows || pairs.length<=1) return pairs.length===0?[]:[r];
  const half=Math.ceil(pairs.length/2);
  return [...cover(pairs.slice(0,half),limits,rowsOf),...cover(pairs.slice(half),limits,rowsOf)];
}
