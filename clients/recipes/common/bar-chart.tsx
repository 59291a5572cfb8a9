export interface Bar {
  readonly label: string;
  /** Null if there is no figure. */
  readonly value: number | null;
  readonly year?: number | null;
}

const ROW = 24;
const LABEL = 150;
const LENGTH = 320;
/** Of the number behind the longest bar. */
const NUMBER = 150;

/** Writes a number as people say it: `111.1 billion`. */
const inWords = (value: number) =>
  value.toLocaleString(
    'en',
    Math.abs(value) < 1e6 ? {} : { notation: 'compact', compactDisplay: 'long', maximumFractionDigits: 1 },
  );

/** A bar for each figure; a country without one says so. */
export function BarChart({
  title,
  unit,
  bars,
}: {
  title: string;
  unit: string | null;
  bars: readonly Bar[];
}) {
  const most = Math.max(1, ...bars.map(({ value }) => Math.abs(value ?? 0)));
  return (
    <figure>
      <figcaption>{unit === null ? title : `${title}, ${unit}`}</figcaption>
      <svg viewBox={`0 0 ${LABEL + LENGTH + NUMBER} ${bars.length * ROW}`} role="img" aria-label={title}>
        {bars.map(({ label, value, year }, i) => (
          <g key={label} transform={`translate(0 ${i * ROW})`}>
            <text x={LABEL - 8} y={16} textAnchor="end">
              {label}
            </text>
            {value === null ? (
              <text x={LABEL} y={16} className="none">
                no figure
              </text>
            ) : (
              <>
                <rect x={LABEL} y={3} height={16} width={(Math.abs(value) / most) * LENGTH} />
                <text x={LABEL + (Math.abs(value) / most) * LENGTH + 6} y={16}>
                  {`${inWords(value)}${year == null ? '' : ` (${year})`}`}
                </text>
              </>
            )}
          </g>
        ))}
      </svg>
    </figure>
  );
}
