import { DropdownMenu, useGraphiQL } from '@graphiql/react';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { picturesIn } from '../chart/drawable.ts';
import type { Picture } from '../chart/picture.ts';
import { endpoint } from '../endpoint.ts';
import { lastExchange, nameIn, shownTab, titleOf } from '../exchange.ts';
import { looks } from '../looks.ts';
import type { Operation } from '../operation.ts';
import { isAlike, publicDocumentOf, publicDocuments, trustedIdOf } from '../trusted.ts';
import { variablesIn } from '../variables.ts';
import { copied } from './clipboard.ts';
import { dataTypeOf } from './data-type.ts';
import { asEmbed, lookParameters, withoutFrame } from './embed.ts';
import { linkTo, MAX_LINK, warningOf } from './link.ts';
import type { Draft } from './publish-words.ts';
import { seenIn } from './seen.ts';
import { seenAsText } from './seen-text.ts';
import { asCurl, asFetch, asTypeScript } from './snippets.ts';

const PublishDialog = lazy(async () => ({ default: (await import('./publish-dialog.tsx')).PublishDialog }));

const LINK = 'Link';

/** Time for which the menu says something, in milliseconds: at least, and for each character to be read. */
const SAID_MS = 4_000;
const READ_MS = 70;

/** Copies the operation for others: as a link, or as code. The key is in none of it. */
export function ShareMenu() {
  const queryEditor = useGraphiQL((state) => state.queryEditor);
  const variableEditor = useGraphiQL((state) => state.variableEditor);
  const operationName = useGraphiQL((state) => state.operationName);
  const schema = useGraphiQL((state) => state.schema);
  const [said, setSaid] = useState('');
  const [draft, setDraft] = useState<Draft | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);

  function say(words: string) {
    setSaid(words);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setSaid(''), Math.max(SAID_MS, words.length * READ_MS));
  }

  async function copy(what: string, text: string | null) {
    if (text === null) {
      say(`The link would have more than ${MAX_LINK.toLocaleString('en')} characters: copy it as code.`);
      return;
    }
    const isCopied = await copied(text);
    say(
      isCopied
        ? `${what} copied, without the key${what === LINK ? warningOf(text) : ''}`
        : 'This browser lets nothing be copied from this page.',
    );
  }

  function operation(): Operation {
    const query = queryEditor?.getValue() ?? '';
    const variables = variablesIn(variableEditor?.getValue() ?? '') ?? {};
    return {
      query,
      variables: Object.keys(variables).length === 0 ? undefined : variables,
      operationName: nameIn(query, operationName),
    };
  }

  /** The pictures of an operation, if it is the one that is shown. */
  async function picturesOf(query: string): Promise<readonly Picture[]> {
    const exchange = lastExchange.get();
    return exchange !== null && isAlike(exchange.operation.query, query) ? picturesIn(exchange) : [];
  }

  const lookOf = (pictures: readonly Picture[]) =>
    lookParameters(pictures, looks.get()[shownTab.get()]?.pictures ?? {});

  /** Copies a frame of what is seen: with the variables, and the look of the picture. */
  async function embed(): Promise<void> {
    const { query, variables } = operation();
    const document = publicDocumentOf(query);
    if (document === null) return say(withoutFrame(query, publicDocuments()));
    await copy('Embed', asEmbed(document, variables, lookOf(await picturesOf(query))));
  }

  async function publish(): Promise<void> {
    const asked = operation();
    const { query, variables } = asked;
    const { withDefaults } = await import('./publish-words.ts');
    const pictures = await picturesOf(query);
    const drawn = pictures.find(({ kind }) => kind !== 'values');
    // An operation of a list stays as it is.
    const isKept = trustedIdOf(query) !== null || schema == null;
    setDraft({
      operation: asked,
      text: isKept ? query : withDefaults(query, variables, schema),
      variables: isKept ? variables : undefined,
      title: drawn?.title ?? titleOf(asked),
      look: lookOf(pictures),
    });
  }

  function typeScript(): string {
    const asked = operation();
    let type = 'unknown';
    try {
      if (schema != null) type = dataTypeOf(schema, asked.query, asked.operationName);
    } catch {
      // A text that is no GraphQL yet has an answer of no known type.
    }
    return asTypeScript(url, asked, type);
  }

  const shared = () => ({
    query: queryEditor?.getValue() ?? '',
    variables: variableEditor?.getValue() ?? '',
    seen: seenAsText(seenIn(shownTab.get())),
  });
  const { url, isOurs } = endpoint();
  const page = `${location.origin}${location.pathname}`;
  return (
    <div className="share">
      <span role="status">{said}</span>
      <DropdownMenu>
        <DropdownMenu.Button className="share-button">Share</DropdownMenu.Button>
        <DropdownMenu.Content>
          <DropdownMenu.Item onSelect={() => void copy(LINK, linkTo(page, shared()))}>
            Copy link
          </DropdownMenu.Item>
          {isOurs && (
            <>
              <DropdownMenu.Item onSelect={() => void embed()}>Copy embed</DropdownMenu.Item>
              <DropdownMenu.Item onSelect={() => void publish()}>Publish…</DropdownMenu.Item>
            </>
          )}
          <DropdownMenu.Item onSelect={() => void copy('curl', asCurl(url, operation()))}>
            Copy as curl
          </DropdownMenu.Item>
          <DropdownMenu.Item onSelect={() => void copy('fetch', asFetch(url, operation()))}>
            Copy as fetch
          </DropdownMenu.Item>
          <DropdownMenu.Item onSelect={() => void copy('TypeScript', typeScript())}>
            Copy as TypeScript
          </DropdownMenu.Item>
        </DropdownMenu.Content>
      </DropdownMenu>
      {draft !== null && (
        <Suspense>
          <PublishDialog draft={draft} close={() => setDraft(null)} />
        </Suspense>
      )}
    </div>
  );
}
