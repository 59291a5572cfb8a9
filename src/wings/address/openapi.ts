import { parseExactly } from '../../exact-json.ts';
import type { Gateway } from '../../gateway.ts';
import { wholeBody } from '../../operations/messages.ts';
import { isObject } from '../../service/records/envelope.ts';
import { type PublicDocument, parametersOf, WIDTHS } from './public-documents.ts';

/** A made-up key: nothing is sent, and nothing is held for it, so that the price is the same for all. */
const NO_KEY = 'Bearer price-of-pictures';

/** Price of a document if nothing is held, in calls to the service. */
interface DocumentPrice {
  readonly least: number;
  readonly expected: number;
  readonly most: number;
}

/** Types of content by the endings of addresses. */
const TYPES: Readonly<Record<string, string>> = {
  '': 'text/html',
  '.json': 'application/json',
  '.csv': 'text/csv',
  '.arrow': 'application/vnd.apache.arrow.stream',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
};

const LOOK_PARAMETERS = [
  { name: 'theme', in: 'query', schema: { type: 'string', enum: ['light', 'dark'], default: 'light' } },
  {
    name: 'width',
    in: 'query',
    description: 'Pixels; a PNG has twice as many.',
    schema: { type: 'integer', minimum: WIDTHS.least, maximum: WIDTHS.most, default: WIDTHS.usual },
  },
  {
    name: 'bare',
    in: 'query',
    description: '1 leaves title, sources and notes out.',
    schema: { type: 'integer', enum: [0, 1], default: 0 },
  },
];

const REFUSALS = {
  400: { description: 'A variable is missing, unknown or malformed, or the operation is too expensive.' },
  403: { description: 'The key that it runs under works no more, or may not read this.' },
  404: { description: 'No public document has this name.' },
  429: { description: 'The calls of the key, or of this visitor, are spent.' },
  503: { description: 'The service or the gateway has no room; `Retry-After` says when to ask again.' },
};

/** Describes all public documents in OpenAPI's words, each with its price. Prices are asked for once. */
export class OpenApi {
  readonly #gateway: Pick<Gateway, 'handle'>;
  /** By the text and the variables of a document: a changed one is priced anew. */
  #prices = new Map<string, Promise<DocumentPrice | null>>();

  constructor(gateway: Pick<Gateway, 'handle'>) {
    this.#gateway = gateway;
  }

  /** @param base address that the paths are behind */
  async text(documents: ReadonlyMap<string, PublicDocument>, base: string, version: string): Promise<string> {
    const paths: [path: string, item: object][] = [];
    for (const { document, price } of await this.#priced(documents)) {
      for (const ending of endingsOf(document))
        paths.push([`/c/${document.name}${ending}`, itemOf(document, ending, TYPES[ending] ?? '', price)]);
    }
    return JSON.stringify({
      openapi: '3.1.0',
      info: { title: 'Public documents', version },
      servers: [{ url: base }],
      paths: Object.fromEntries(paths),
    });
  }

  /** Describes them in words, for models. */
  async things(documents: ReadonlyMap<string, PublicDocument>) {
    return (await this.#priced(documents)).map(({ document, price }) => {
      const { name, title, description, variables } = document;
      const forms = endingsOf(document).filter((ending) => ending !== '');
      const given = variables.map((variable) => variable.name).join(', ');
      const costs =
        price === null
          ? 'What it costs depends on its variables.'
          : `Costs ${price.expected} call(s) to the metered service where nothing is held: at least ${price.least}, at most ${price.most}.`;
      const parameters = given === '' ? '' : ` Parameters: ${given}.`;
      const words = `${description ?? ''} A page; its data and picture are beside it as ${forms.join(', ')}.${parameters} ${costs}`;
      return { name: `[${title ?? name}](c/${name})`, words };
    });
  }

  /** Prices all documents, one after the other. */
  async #priced(documents: ReadonlyMap<string, PublicDocument>) {
    const priced: { readonly document: PublicDocument; readonly price: DocumentPrice | null }[] = [];
    const known = this.#prices;
    this.#prices = new Map();
    for (const document of documents.values()) {
      const asked = known.get(document.text) ?? this.#ask(document);
      this.#prices.set(document.text, asked);
      const price = await asked;
      // A price that can't be told for want of room is asked for again.
      if (price === null) this.#prices.delete(document.text);
      priced.push({ document, price });
    }
    return priced;
  }

  async #ask(document: PublicDocument): Promise<DocumentPrice | null> {
    const { documentId, operationName } = document;
    const { body } = await this.#gateway.handle({
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        authorization: NO_KEY,
        'x-explain': '1',
      },
      search: '',
      body: { documentId, operationName, variables: document.sample },
      signal: new AbortController().signal,
    });
    const reply = parseExactly(await wholeBody(body));
    const { extensions } = isObject(reply) ? reply : {};
    const { explain } = isObject(extensions) ? extensions : {};
    if (!isObject(explain)) return null;
    return { least: Number(explain.least), expected: Number(explain.calls), most: Number(explain.most) };
  }
}

function endingsOf({ isTable }: PublicDocument): readonly string[] {
  return Object.keys(TYPES).filter((ending) => isTable || (ending !== '.csv' && ending !== '.arrow'));
}

function itemOf(document: PublicDocument, ending: string, type: string, price: DocumentPrice | null): object {
  const { name, title, description } = document;
  const isPicture = ending === '.svg' || ending === '.png';
  return {
    get: {
      operationId: `${name}${ending.replace('.', '_')}`,
      summary: title ?? name,
      ...(description === null ? {} : { description }),
      parameters: [...parametersOf(document), ...(isPicture ? LOOK_PARAMETERS : [])],
      responses: {
        200: { description: 'As asked for.', content: { [type]: {} } },
        304: { description: 'The data are those of `If-None-Match`.' },
        ...REFUSALS,
      },
      // Calls to the metered service if nothing is held; null if that depends on the variables.
      'x-upstream-calls': price,
    },
  };
}
