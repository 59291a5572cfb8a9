import { useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { type KeyboardEvent, lazy, type ReactNode, Suspense, useEffect } from 'react';
import { picturesIn } from './chart/drawable.ts';
import { CostPane } from './cost-pane.tsx';
import { loadCharts } from './editor-loading.ts';
import { endpoint } from './endpoint.ts';
import { ErrorsPane } from './errors-pane.tsx';
import { type Exchange, lastExchange, shownTab, showTab, titleOf } from './exchange.ts';
import { shownSide, useFocusHandedOn } from './focus.ts';
import { LiveBar } from './live-bar.tsx';
import { isUnderWay, liveStatus } from './live-status.ts';
import { LongAnswer, shownOf } from './long-answer.tsx';
import { OfflineBar } from './offline-bar.tsx';
import { isComing, PartsBar } from './parts-bar.tsx';
import { useScrollThrough } from './scroll-through.ts';
import type { Settings } from './settings.ts';
import type { Side } from './side.ts';
import { StartPane } from './start-pane.tsx';
import { useStore } from './store.ts';
import { toRun } from './tools.ts';
import { isMedium, isSideChosen, isWide, side, useNarrow } from './view.ts';

/** Charts and maps come with a library of their own, loaded when the pane is first opened. */
const ChartPane = lazy(loadCharts);

const SIDES: readonly { readonly name: Side; readonly title: string }[] = [
  { name: 'query', title: 'Query' },
  { name: 'answer', title: 'Answer' },
  { name: 'picture', title: 'Picture' },
  { name: 'cost', title: 'Cost' },
  { name: 'errors', title: 'Errors' },
];

/** The sides that there are. Only figures of Country Graph are drawn. */
function sidesFor(narrow: boolean) {
  const { isOurs, explains } = endpoint();
  const isThere = { query: narrow, answer: true, picture: isOurs, cost: explains, errors: true };
  return SIDES.filter(({ name }) => isThere[name]);
}

/**
 * Results of the operation in the tab that is shown: its answer, a picture of it, its cost and its errors.
 */
export function ResultSide({ settings }: { readonly settings: Settings }) {
  const exchange = useFollowedTab();
  const wide = useStore(isWide);
  const chosen = useStore(side);
  const narrow = useNarrow();
  const shown = sidesFor(narrow).some(({ name }) => name === chosen) ? chosen : 'answer';
  const id = useGraphiQL((state) => state.tabs[state.activeTabIndex]?.id ?? '');
  const isBegun = useIsBegun() || exchange !== null;
  useScrollThrough();
  useEffect(() => {
    document.body.dataset.side = shown;
    document.body.dataset.wide = String(wide && !narrow);
    document.body.dataset.begun = String(isBegun);
  }, [shown, wide, narrow, isBegun]);
  return (
    <>
      <div className="side-bar">
        <Sides shown={shown} narrow={narrow} exchange={exchange} />
        {narrow && shown !== 'query' && <RunButton />}
        <button
          type="button"
          className="wide"
          aria-pressed={wide}
          title={wide ? 'Show the operation again' : 'Give this side the whole page'}
          onClick={() => isWide.set(!wide)}
        >
          {wide ? 'Narrow' : 'Wide'}
        </button>
      </div>
      <LiveBar />
      <PartsBar />
      <OfflineBar />
      {shown === 'answer' && exchange !== null && <LongAnswer key={exchange.at} exchange={exchange} />}
      {!isBegun && shown !== 'cost' && shown !== 'errors' ? (
        <Panel isStart>
          <StartPane settings={settings} />
        </Panel>
      ) : (
        shown !== 'answer' &&
        shown !== 'query' && (
          // Another side, or tab, begins where it begins, however far the last one was scrolled.
          <Panel key={`${shown} ${id}`} side={shown}>
            {exchange !== null && <Of exchange={exchange} />}
            {shown === 'picture' && (
              <Suspense fallback={<p>Loading …</p>}>
                <ChartPane />
              </Suspense>
            )}
            {shown === 'cost' && <CostPane />}
            {shown === 'errors' && <ErrorsPane />}
          </Panel>
        )
      )}
    </>
  );
}

/** The part below the tabs, `side` the tab that it belongs to. */
function Panel({
  side,
  isStart = false,
  children,
}: {
  readonly side?: Side;
  readonly isStart?: boolean;
  readonly children: ReactNode;
}) {
  const place = useFocusHandedOn();
  const ofTab = side && { role: 'tabpanel', id: 'side-panel', 'aria-labelledby': `side-${side}` };
  return (
    <div ref={place} className={`side-panel pane ${isStart ? 'start' : ''}`} {...ofTab}>
      {children}
    </div>
  );
}

function useFollowedTab(): Exchange | null {
  const ids = useGraphiQL((state) => state.tabs.map(({ id }) => id).join(' '));
  const id = useGraphiQL((state) => state.tabs[state.activeTabIndex]?.id ?? '');
  const queryEditor = useGraphiQL((state) => state.queryEditor);
  const responseEditor = useGraphiQL((state) => state.responseEditor);
  useEffect(() => {
    showTab(id, ids.split(' '));
    showActiveTab();
    // An editor stays as far to the side as the text before was scrolled.
    for (const editor of [queryEditor, responseEditor])
      if (editor !== undefined && 'setScrollLeft' in editor) editor.setScrollLeft(0);
  }, [id, ids, queryEditor, responseEditor]);
  useEffect(() => {
    const tabs = document.querySelector('.graphiql-tabs');
    const resized = new ResizeObserver(showActiveTab);
    if (tabs !== null) resized.observe(tabs);
    return () => resized.disconnect();
  }, []);
  const exchange = useStore(lastExchange);
  useRunWhenOpen(id);
  usePictureFirst(exchange);
  const { setVisiblePlugin, updateActiveTabValues } = useGraphiQLActions();
  const isEmpty = useGraphiQL((state) => (state.tabs[state.activeTabIndex]?.response ?? '') === '');
  const isFetching = useGraphiQL((state) => state.isFetching);
  // An answer that was cached stands in no tab of GraphiQL yet.
  useEffect(() => {
    if (exchange === null || !isEmpty || isFetching || responseEditor === undefined) return;
    // Passes over the exchange of the last tab, which is still there just after a change of tabs.
    if (lastExchange.get() !== exchange) return;
    const response = JSON.stringify(shownOf(exchange.answer, exchange.length), null, 2);
    responseEditor.setValue(response);
    updateActiveTabValues({ response });
  }, [exchange, isEmpty, isFetching, responseEditor, updateActiveTabValues]);
  // Shows the results of a run: on a page without room beside them, the operation and the panes give way.
  useEffect(() => {
    if (!isFetching) return;
    if (side.get() === 'query') side.set('answer');
    if (isMedium()) setVisiblePlugin(null);
  }, [isFetching, setVisiblePlugin]);
  return exchange;
}

/**
 * Scrolls the tab that is shown into view, among others for which there may be no room. Not by `scrollIntoView`, after
 * which Chromium 150 has the keyboard begin at the tab, past the way to Run.
 */
function showActiveTab(): void {
  const active = document.querySelector('.graphiql-tab-active');
  const tabs = active?.closest('.graphiql-tabs');
  if (active == null || tabs == null) return;
  const [own, room] = [active.getBoundingClientRect(), tabs.getBoundingClientRect()];
  tabs.scrollBy({ left: beyond(own.left, own.right, room.left, room.right) });
  scrollBy({ top: beyond(own.top, own.bottom, 0, innerHeight) });
}

/** How far a range has to be moved to lie within another; 0 if it does. */
function beyond(from: number, to: number, least: number, most: number): number {
  return from < least ? from - least : Math.max(0, to - most);
}

/** Runs a tab that was opened to be run, once it is shown. */
function useRunWhenOpen(id: string): void {
  const { run } = useGraphiQLActions();
  const wanted = useStore(toRun);
  const query = useGraphiQL((state) => state.tabs[state.activeTabIndex]?.query ?? '');
  const shown = useStore(shownTab);
  useEffect(() => {
    if (wanted === null || wanted.query !== query || shown !== id) return;
    toRun.set(null);
    void run();
  }, [wanted, query, shown, id, run]);
}

/** Shows the picture of an answer, or the errors of one without data, if nobody has chosen a side. */
function usePictureFirst(exchange: Exchange | null): void {
  useEffect(() => {
    if (exchange === null || isSideChosen.get() || side.get() !== 'answer') return;
    void (endpoint().isOurs ? picturesIn(exchange) : Promise.resolve([])).then((pictures) => {
      if (isSideChosen.get() || side.get() !== 'answer') return;
      const isDrawn = pictures.some(({ kind }) => kind !== 'values');
      const { data, errors = [] } = exchange.answer;
      const isFailed = errors.length > 0 && Object.values(data ?? {}).every((value) => value === null);
      if (isDrawn) side.set('picture');
      else if (isFailed) side.set('errors');
    });
  }, [exchange]);
}

/** True if the answer's editor has, or is about to have, something to show. */
function useIsBegun(): boolean {
  return useGraphiQL(
    ({ isFetching, fetchError, tabs, activeTabIndex }) =>
      isFetching || fetchError !== null || (tabs[activeTabIndex]?.response ?? '') !== '',
  );
}

interface SidesProps {
  readonly shown: Side;
  readonly narrow: boolean;
  readonly exchange: Exchange | null;
}

function Sides({ shown, narrow, exchange }: SidesProps) {
  const errors = exchange?.answer.errors?.length ?? 0;
  const warnings = exchange?.answer.extensions?.warnings?.length ?? 0;
  const sides = sidesFor(narrow);
  // The picture may take the place of the answer while somebody is at its tab.
  useEffect(() => {
    if (document.activeElement?.matches('.side[aria-selected="false"]')) shownSide()?.focus();
  });
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    const next = sides[(sides.findIndex(({ name }) => name === shown) + step + sides.length) % sides.length];
    if (next === undefined) return;
    event.preventDefault();
    side.set(next.name);
    if (next.name !== 'query') isSideChosen.set(true);
    document.getElementById(`side-${next.name}`)?.focus();
  };
  return (
    <div className="sides" role="tablist" aria-label="What came of it" onKeyDown={onKeyDown}>
      {sides.map(({ name, title }) => (
        <button
          key={name}
          id={`side-${name}`}
          type="button"
          role="tab"
          className="side"
          aria-selected={name === shown}
          tabIndex={name === shown ? 0 : -1}
          onClick={() => {
            side.set(name);
            if (name !== 'query') isSideChosen.set(true);
          }}
        >
          {title}
          {name === 'errors' && errors > 0 && <span className="badge">{errors}</span>}
          {name === 'errors' && warnings > 0 && (
            <span className="badge warned" title={warnings === 1 ? '1 warning' : `${warnings} warnings`}>
              <span aria-hidden="true">!</span>
              {warnings}
              <span className="unseen"> {warnings === 1 ? 'warning' : 'warnings'}</span>
            </span>
          )}
        </button>
      ))}
    </div>
  );
}

/** A button for times at which the operation is out of sight, and GraphiQL's own button with it. */
function RunButton() {
  const { run } = useGraphiQLActions();
  const isFetching = useGraphiQL((state) => state.isFetching);
  const isLive = isUnderWay(useStore(liveStatus));
  const comesInParts = isComing(useStore(lastExchange));
  // Leaves stopping to the bar that tells its state.
  if (isLive || comesInParts) return null;
  return (
    <button type="button" className="run" disabled={isFetching} onClick={() => void run()}>
      Run
    </button>
  );
}

/** The operation that these results came of. */
function Of({ exchange: { operation, at } }: { readonly exchange: Exchange }) {
  const written = useGraphiQL((state) => state.tabs[state.activeTabIndex]?.query ?? null);
  return (
    <p className="of">
      <strong>{titleOf(operation)}</strong>, run at {new Date(at).toLocaleTimeString()}
      {written !== null && written !== operation.query && '; the operation has been changed since'}.
    </p>
  );
}
