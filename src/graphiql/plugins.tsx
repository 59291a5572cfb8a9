import type { GraphiQLPlugin } from '@graphiql/react';
import { type ComponentType, lazy, Suspense } from 'react';
import { CostPane } from './cost-pane.tsx';
import { ErrorsPane } from './errors-pane.tsx';

/** Charts and maps come with a library of their own, loaded when the pane is first opened. */
const ChartPane = lazy(() => import('./chart/chart-pane.tsx'));

export const CHART = plugin('Chart', 'M3 20h18M6 16l4-5 4 3 5-8', () => (
  <Suspense fallback={<p>Loading …</p>}>
    <ChartPane />
  </Suspense>
));
export const COST = plugin(
  'Cost',
  'M12 3v18M16.5 7.5C16 6 14.5 5.3 12 5.3S7.6 6.5 7.6 8.6 9.5 11.6 12 12s4.6 1.300 4.600 3.400-1.900 3.300-4.600 3.300-4.400-1-4.800-2.700',
  CostPane,
);
export const ERRORS = plugin('Errors', 'M12 4l9 16H3zM12 10v4M12 17v.5', ErrorsPane);

function plugin(title: string, path: string, Pane: ComponentType): GraphiQLPlugin {
  return {
    title,
    icon: () => (
      <svg viewBox="0 0 24 24" fill="none" stroke="currentColor" strokeWidth="1.6" aria-hidden="true">
        <path d={path} strokeLinecap="round" strokeLinejoin="round" />
      </svg>
    ),
    content: () => (
      <div className="pane">
        <div className="graphiql-doc-explorer-title">{title}</div>
        <Pane />
      </div>
    ),
  };
}
