import 'graphiql/setup-workers/vite';

/** Places of the JSON that people write, or look through. */
const PLACES = '.graphiql-editor-tool, .result-window';

interface Environment {
  getWorker: (id: string, label: string) => Worker | Promise<Worker>;
}

const wanted = Promise.withResolvers<void>();
const looking = new AbortController();

for (const kind of ['focusin', 'pointerover'])
  document.addEventListener(
    kind,
    ({ target }) => {
      if (!(target instanceof Element) || target.closest(PLACES) === null) return;
      looking.abort();
      wanted.resolve();
    },
    { signal: looking.signal },
  );

// Loads the worker that checks and folds JSON, a tenth of all that the page loads, once somebody turns to some.
const environment = (globalThis as unknown as { MonacoEnvironment: Environment }).MonacoEnvironment;
const { getWorker } = environment;
environment.getWorker = async (id, label) => {
  if (label === 'json') await wanted.promise;
  return getWorker(id, label);
};
