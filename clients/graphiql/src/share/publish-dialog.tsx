import './publish.css';
import { type FormEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { Choice } from '../chart/choice.tsx';
import { saveFile } from '../save-file.ts';
import { canPublish, pageUrlOf, publicDocuments, setPublicDocuments } from '../trusted.ts';
import { copied } from './clipboard.ts';
import { addressWith, asEmbed } from './embed.ts';
import { type PublishedPage, priceOfVisit, publishedPages, publishPage, unpublishPage } from './publish.ts';
import { type Draft, nameFrom, type PageWords, publishCommand } from './publish-words.ts';

/** As the gateway takes them. */
const NAMES = '[A-Za-z0-9][A-Za-z0-9_\\-]{0,63}';

const THEMES = [
  ['auto', "the reader's"],
  ['light', 'light'],
  ['dark', 'dark'],
] as const;

interface DialogProps {
  readonly draft: Draft;
  readonly close: () => void;
}

/** Makes a page of an operation and its picture; where nobody may from here, it says how an operator does. */
export function PublishDialog({ draft, close }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  const [words, setWords] = useState<PageWords>({
    name: nameFrom(draft.title),
    title: draft.title,
    note: '',
    theme: 'auto',
  });
  const [page, setPage] = useState<PublishedPage | null>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} className="publish pane" aria-labelledby={heading} onClose={close}>
      <h2 id={heading}>{page === null ? 'Publish this picture' : 'It is public'}</h2>
      {page === null ? (
        <Form draft={draft} words={words} change={(some) => setWords({ ...words, ...some })}>
          {canPublish() ? (
            <Send draft={draft} words={words} onDone={setPage} />
          ) : (
            <ByHand draft={draft} words={words} />
          )}
        </Form>
      ) : (
        <Addresses draft={draft} page={page} onTakenBack={() => setPage(null)} />
      )}
      {canPublish() && <Published but={page?.name} />}
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}

interface FormProps {
  readonly draft: Draft;
  readonly words: PageWords;
  readonly change: (words: Partial<PageWords>) => void;
  readonly children: ReactNode;
}

function Form({ draft, words, change, children }: FormProps) {
  const [price, setPrice] = useState('');
  useEffect(() => {
    const leaving = new AbortController();
    priceOfVisit(draft.operation, leaving.signal).then(setPrice, () => {});
    return () => leaving.abort();
  }, [draft]);
  return (
    <>
      <p>Anybody may open its page, without a key. {price}</p>
      <label>
        Name in the address
        <input
          required
          pattern={NAMES}
          title="Up to 64 letters, digits and dashes"
          form="publish"
          value={words.name}
          // The dialog begins here: what is typed stands for the name that is proposed.
          onFocus={(event) => event.target.select()}
          onChange={(event) => change({ name: event.target.value })}
        />
      </label>
      <label>
        Title
        <input
          maxLength={200}
          form="publish"
          value={words.title}
          onChange={(event) => change({ title: event.target.value })}
        />
      </label>
      <label>
        Note below the picture
        <textarea
          maxLength={600}
          rows={2}
          form="publish"
          value={words.note}
          onChange={(event) => change({ note: event.target.value })}
        />
      </label>
      <Choice label="Colours" value={words.theme} options={THEMES} choose={(theme) => change({ theme })} />
      {children}
    </>
  );
}

interface StepProps {
  readonly draft: Draft;
  readonly words: PageWords;
}

function Send({ draft, words, onDone }: StepProps & { readonly onDone: (page: PublishedPage) => void }) {
  const [fault, setFault] = useState('');
  const [isSending, setSending] = useState(false);
  const publish = async (event: FormEvent) => {
    event.preventDefault();
    setSending(true);
    setFault('');
    try {
      const { title } = await publishPage(draft, words);
      const page = { name: words.name, title: title ?? words.name };
      const url = pageUrlOf(page.name);
      // Has frames of this very operation be copied as well.
      const texts = [...new Set([draft.text, draft.operation.query])];
      setPublicDocuments([...texts.map((text) => ({ url, title: page.title, text })), ...publicDocuments()]);
      onDone(page);
    } catch (error) {
      setFault(String((error as Error).message));
      setSending(false);
    }
  };
  return (
    <form id="publish" onSubmit={(event) => void publish(event)}>
      <p className="fault" role="alert">
        {fault}
      </p>
      <button type="submit" className="primary" disabled={isSending}>
        Publish
      </button>
    </form>
  );
}

/** Where this gateway lets nobody publish from a browser. */
function ByHand({ draft, words }: StepProps) {
  const command = publishCommand(words, draft.look);
  return (
    <>
      <p>
        This gateway publishes nothing from here. Save the file, and have whoever runs the gateway give the
        command:
      </p>
      <code className="line">{command}</code>
      <div className="steps">
        <button
          type="button"
          onClick={() => saveFile(`${words.name}.graphql`, new Blob([draft.text], { type: 'text/plain' }))}
        >
          Save the file
        </button>
        <Copy what="command" text={command} />
      </div>
    </>
  );
}

interface AddressesProps {
  readonly draft: Draft;
  readonly page: PublishedPage;
  readonly onTakenBack: () => void;
}

function Addresses({ draft: { variables }, page, onTakenBack }: AddressesProps) {
  const url = pageUrlOf(page.name);
  const address = addressWith(url, variables);
  const embed = asEmbed({ url, title: page.title ?? page.name }, variables).trim();
  return (
    <>
      <p>
        <a href={address} target="_blank" rel="noreferrer">
          {address}
        </a>
      </p>
      <code className="line">{embed}</code>
      <div className="steps">
        <Copy what="address" text={address} />
        <Copy what="embed" text={embed} />
        <TakeBack name={page.name} onDone={onTakenBack} />
      </div>
    </>
  );
}

function Copy({ what, text }: { readonly what: string; readonly text: string }) {
  const [said, setSaid] = useState('');
  const copy = async () =>
    setSaid((await copied(text)) ? 'Copied' : 'This browser lets nothing be copied from this page.');
  return (
    <>
      <button type="button" onClick={() => void copy()}>
        Copy {what}
      </button>
      <span role="status">{said}</span>
    </>
  );
}

function TakeBack({ name, onDone }: { readonly name: string; readonly onDone: () => void }) {
  const [fault, setFault] = useState('');
  const takeBack = async () => {
    try {
      await unpublishPage(name);
      setPublicDocuments(publicDocuments().filter(({ url }) => url !== pageUrlOf(name)));
      onDone();
    } catch (error) {
      setFault(String((error as Error).message));
    }
  };
  return (
    <>
      <button type="button" aria-label={`Unpublish ${name}`} onClick={() => void takeBack()}>
        Unpublish
      </button>
      {fault !== '' && (
        <span className="fault" role="alert">
          {fault}
        </span>
      )}
    </>
  );
}

/** What was published from here under the same key. */
function Published({ but }: { readonly but: string | undefined }) {
  const [pages, setPages] = useState<readonly PublishedPage[]>([]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page may be among them
  useEffect(() => {
    let isCurrent = true;
    publishedPages().then(
      (all) => isCurrent && setPages(all),
      () => {},
    );
    return () => {
      isCurrent = false;
    };
  }, [but]);
  const others = pages.filter(({ name }) => name !== but);
  if (others.length === 0) return null;
  return (
    <section aria-label="Published before">
      <h3>Published before</h3>
      <ul>
        {others.map(({ name, title }) => (
          <li key={name}>
            <a href={pageUrlOf(name)} target="_blank" rel="noreferrer">
              {title ?? name}
            </a>{' '}
            <TakeBack name={name} onDone={() => setPages(pages.filter((page) => page.name !== name))} />
          </li>
        ))}
      </ul>
    </section>
  );
}
