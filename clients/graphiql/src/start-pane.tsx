import { useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { useEffect, useState } from 'react';
import { apiKey } from './api-key.ts';
import { endpoint } from './endpoint.ts';
import { nameIn } from './exchange.ts';
import { ABOUT, OF_SANDBOX, QUESTIONS } from './opening/questions.ts';
import type { Operation } from './operation.ts';
import { callsOf, explained } from './price.ts';
import type { Settings } from './settings.ts';
import { followed } from './share/followed.ts';
import { useStore } from './store.ts';
import { useAsk } from './tools.ts';
import { onceSettled } from './turns.ts';
import { variablesIn } from './variables.ts';
import { side } from './view.ts';

/** What the first operation of a tab is, and its price, before it is run. */
export function StartPane({ settings }: { readonly settings: Settings }) {
  const { run } = useGraphiQLActions();
  const query = useGraphiQL((state) => state.tabs[state.activeTabIndex]?.query ?? '');
  const isFollowed = useStore(followed) === query;
  if (isFollowed) return <Followed />;
  return (
    <>
      {endpoint().isOurs && <Introduction settings={settings} />}
      <h2>What stands in the editor</h2>
      <p>
        <button type="button" className="primary" onClick={() => void run()}>
          Run this operation
        </button>{' '}
        <span className="hint">or Ctrl-Enter in the editor</span>
      </p>
      {endpoint().explains && <Price />}
    </>
  );
}

/** What is behind this, and questions to ask. */
function Introduction({ settings: { demoKeys, trusted } }: { readonly settings: Settings }) {
  const { setVisiblePlugin } = useGraphiQLActions();
  return (
    <>
      <h2>What is this?</h2>
      <p>
        {ABOUT}
        {demoKeys !== null && ` ${OF_SANDBOX}`}
      </p>
      {trusted === null ? (
        <>
          <h2>What may I ask?</h2>
          <Questions />
          <p>
            More of these: <PaneLink title="Lessons" /> Every indicator: <PaneLink title="Catalogue" /> Every
            field, and what it costs: <PaneLink title="Documentation Explorer" word="Docs" /> Point and click:{' '}
            <PaneLink title="Builder" />
          </p>
        </>
      ) : (
        <p>
          You may ask what stands in the list of{' '}
          <button type="button" className="link" onClick={() => setVisiblePlugin('Documents')}>
            Documents
          </button>
          : this gateway runs trusted documents alone, {trusted.length} in all.
        </p>
      )}
    </>
  );
}

/** Questions that are answered by one click, each with its price. */
function Questions() {
  const ask = useAsk();
  const key = useStore(apiKey);
  const [prices, setPrices] = useState<Readonly<Record<string, string>>>({});
  useEffect(() => {
    setPrices({});
    if (key === '') return;
    const leaving = new AbortController();
    // One by one: a browser has six connections, and a question that is clicked waits for none of these.
    const ask = async () => {
      for (const { query, lesson } of QUESTIONS) {
        const plan = await explained({ query }, leaving.signal).catch(() => null);
        if (leaving.signal.aborted) return;
        if (plan !== null) setPrices((prices) => ({ ...prices, [lesson]: callsOf(plan) }));
      }
    };
    void ask();
    return () => leaving.abort();
  }, [key]);
  return (
    <ul className="choices questions">
      {QUESTIONS.map(({ lesson, question, query }) => (
        <li key={lesson}>
          <button type="button" onClick={() => ask({ query })}>
            {question} {prices[lesson] !== undefined && <span className="cost">{prices[lesson]}</span>}
          </button>
        </li>
      ))}
    </ul>
  );
}

/** Stands in place of all that if a link brought the operation: people who follow one come for its answer. */
function Followed() {
  const { run } = useGraphiQLActions();
  return (
    <section aria-label="The link">
      <h2>You have followed a link</h2>
      <p>It brought the operation that stands in the editor, without a key. The answer comes here.</p>
      <p>
        <button type="button" className="primary" onClick={() => void run()}>
          Run this operation
        </button>
      </p>
      {endpoint().explains && <Price />}
    </section>
  );
}

/** A link to a pane at the end of a sentence: no line begins with the full stop. */
function PaneLink({ title, word = title }: { readonly title: string; readonly word?: string }) {
  const { setVisiblePlugin } = useGraphiQLActions();
  return (
    <span className="unbroken">
      <button type="button" className="link" onClick={() => setVisiblePlugin(title)}>
        {word}
      </button>
      .
    </span>
  );
}

/** Price of the operation in the editor, which costs nothing to ask. */
function Price() {
  const query = useGraphiQL((state) => state.tabs[state.activeTabIndex]?.query ?? '');
  const variables = useGraphiQL((state) => state.tabs[state.activeTabIndex]?.variables ?? '');
  const operationName = useGraphiQL((state) => state.operationName);
  const key = useStore(apiKey);
  const shown = useStore(side);
  const [said, setSaid] = useState<string>('');
  useEffect(() => {
    if (key === '' && endpoint().isOurs) {
      setSaid('Give your API key above first: the price depends on what is cached for it.');
      return;
    }
    return onceSettled((signal) =>
      price(
        { query, variables: variablesIn(variables) ?? {}, operationName: nameIn(query, operationName) },
        signal,
      )
        .then((words) => setSaid(words))
        .catch(() => {}),
    );
  }, [query, variables, operationName, key]);
  return (
    <p className="price" role="status">
      {said === ''
        ? 'The service behind this counts calls. What this operation takes is being reckoned …'
        : said}{' '}
      {shown !== 'cost' && (
        <button type="button" className="link" onClick={() => side.set('cost')}>
          More about cost
        </button>
      )}
    </p>
  );
}

const UNPRICED = "The service behind this counts calls. This operation can't be priced as it stands.";

async function price(operation: Operation, signal: AbortSignal): Promise<string> {
  const plan = await explained(operation, signal);
  if (plan === null) return UNPRICED;
  const { naive = 0 } = plan;
  const saved = naive > plan.calls ? `, instead of ${naive} if each field fetched for itself` : '';
  return plan.calls === 0
    ? 'The service behind this counts calls. This operation takes none: all that it asks for is cached.'
    : `The service behind this counts calls. This operation takes ${callsOf(plan)}${saved}${endpoint().isOurs ? '; asked again soon, none' : ''}.`;
}
