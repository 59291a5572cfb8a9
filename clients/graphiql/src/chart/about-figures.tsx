import { useCallback, useEffect, useMemo, useState } from 'react';
import { namesIn } from '../../../../src/shared/source-names.ts';
import { messageOf } from '../answer.ts';
import { endpoint } from '../endpoint.ts';
import { send } from '../send.ts';
import { loadSettings } from '../settings.ts';
import { setCachedNames, sourceOf } from '../source-names.ts';
import { localTime } from '../words.tsx';
import { isObject, type JsonObject } from './document.ts';
import type { Figure } from './figures.ts';
import { metadataOf } from './metadata.ts';
import { usePrice } from './use-price.ts';

const ABOUT = `query AboutFigures($keys: [String!]) {
  indicators(keys: $keys) { key category record }
  sources { key name url lastSuccessfulRefresh record }
}`;

/** Names of fields that a record of the service may have for a fact: its specification names none. */
const DEFINITION = ['definition', 'description', 'long_definition'];
const METHOD = ['methodology', 'method'];
const LICENCE = ['licence', 'license'];

const UNSTATED = 'The service states none.';

interface Described {
  readonly key: string;
  readonly record: unknown;
}

/** What the service tells of indicators and sources. */
interface Descriptions {
  readonly indicators: readonly (Described & { readonly category: string | null })[];
  readonly sources: readonly (Described & {
    readonly name: string | null;
    readonly url: string | null;
    readonly lastSuccessfulRefresh: string | null;
  })[];
}

/** Sources, units and releases of the figures of a picture; and their definition and licence, which may take calls. */
export function AboutFigures({ figures }: { readonly figures: readonly Figure[] }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="about" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>About these figures</summary>
      {isOpen && <Facts figures={figures} />}
    </details>
  );
}

function Facts({ figures }: { readonly figures: readonly Figure[] }) {
  const facts = useMemo(() => metadataOf(figures), [figures]);
  const keys = facts.indicators.map(({ key }) => key).join(' ');
  const { descriptions, fault, price, ask } = useDescriptions(keys);
  const ofSource = new Map(figures.map((figure) => [figure.source, sourceOf(figure)]));
  return (
    <>
      {facts.indicators.map(({ key, name, units }) => {
        const described = descriptions?.indicators.find((one) => one.key === key);
        return (
          <dl key={key}>
            <Fact name="Indicator" text={name === key ? key : `${name} (${key})`} />
            <Fact name="Unit" text={units.join(', ')} />
            {descriptions !== null && (
              <>
                <Fact name="Definition" text={textIn(described, DEFINITION) ?? UNSTATED} />
                <Fact name="Method" text={textIn(described, METHOD)} />
                <Fact name="Category" text={described?.category} />
                <Fact name="Frequency" text={textIn(described, ['frequency'])} />
              </>
            )}
          </dl>
        );
      })}
      {facts.sources.map(({ key, licence, releases, retrievedAt, refreshedAt }) => {
        const described = descriptions?.sources.find((one) => one.key === key);
        const name = described?.name ?? ofSource.get(key)?.name ?? key;
        const url = described?.url ?? ofSource.get(key)?.url ?? null;
        const refreshed = described?.lastSuccessfulRefresh ?? refreshedAt;
        return (
          <dl key={key}>
            <dt>Source</dt>
            <dd>{url === null ? name : <SourceLink name={name} url={url} />}</dd>
            <Fact
              name="Licence"
              text={licence ?? textIn(described, LICENCE) ?? (descriptions === null ? null : UNSTATED)}
            />
            <Fact name="Release" text={releases.join(', ')} />
            <Fact name="Retrieved" text={retrievedAt && localTime(retrievedAt, DAY)} />
            <Fact name="Refreshed" text={refreshed && localTime(refreshed, DAY)} />
          </dl>
        );
      })}
      {ask !== null && descriptions === null && (
        <button type="button" onClick={() => void ask()}>
          Definition and licence {price !== '' && <span className="cost">({price})</span>}
        </button>
      )}
      <p role="status" className={fault === '' ? 'unseen' : 'fault'}>
        {fault}
      </p>
    </>
  );
}

const DAY = { dateStyle: 'long' } as const;

const SourceLink = ({ name, url }: { readonly name: string; readonly url: string }) => (
  <a href={url} target="_blank" rel="noreferrer">
    {name}
  </a>
);

/** A row of a list of facts; none without a text. */
function Fact({ name, text }: { readonly name: string; readonly text: string | null | undefined }) {
  if (!text) return null;
  return (
    <>
      <dt>{name}</dt>
      <dd>{text}</dd>
    </>
  );
}

/**
 * Asks for what the service tells of indicators and their sources: by itself if that takes no call, and not at all where only
 * operations of a list run.
 * @param keys separated by blanks
 */
function useDescriptions(keys: string) {
  const [descriptions, setDescriptions] = useState<Descriptions | null>(null);
  const [fault, setFault] = useState('');
  const [mayAsk, setMayAsk] = useState(false);
  const variables = useMemo(() => ({ keys: keys.split(' ') }), [keys]);
  const written = useMemo(() => ({ query: ABOUT, variables: JSON.stringify(variables) }), [variables]);
  const price = usePrice(mayAsk && descriptions === null ? written : null, undefined);
  useEffect(() => {
    loadSettings().then(
      ({ trusted }) => setMayAsk(trusted === null && endpoint().isOurs),
      () => {},
    );
  }, []);
  const ask = useCallback(async () => {
    const { data, errors = [] } = await send({ query: ABOUT, variables });
    const { indicators = null, sources = null } = (data ?? {}) as Partial<Descriptions>;
    setFault(errors.map(messageOf).join(' '));
    if (indicators === null && sources === null) return;
    setDescriptions({ indicators: indicators ?? [], sources: sources ?? [] });
    const names = namesIn(data);
    if (names !== null) setCachedNames(names);
  }, [variables]);
  const isFree = price === 'no call';
  useEffect(() => {
    if (isFree) void ask();
  }, [isFree, ask]);
  return { descriptions, fault, price, ask: mayAsk ? ask : null };
}

function textIn(described: Described | undefined, names: readonly string[]): string | null {
  const record: JsonObject = isObject(described?.record) ? described.record : {};
  const text = names.map((name) => record[name]).find((value) => typeof value === 'string' && value !== '');
  return typeof text === 'string' ? text : null;
}
