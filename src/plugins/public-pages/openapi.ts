import {
  type GraphQLInputType,
  getNullableType,
  isEnumType,
  isListType,
  isNonNullType,
  valueFromASTUntyped,
} from 'graphql';
import type { ComposedGateway } from '../../gateway/plugin.ts';
import { wholeBody } from '../../graphql/request/responses.ts';
import { isObject } from '../../service/records/envelope.ts';
import { parseExactly } from '../../shared/exact-json.ts';
import { type PublicDocument, WIDTHS } from './public-documents.ts';

/** A made-up key: nothing is sent, and nothing is cached for it, so that the price is the same for all. */
const NO_KEY = 'Bearer price-of-pictures';

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

/**
 * Describes all public documents, each with its price. Prices are asked for once.
 * @param current returns the documents at the moment
 */
export function openApiOf({ handle }: ComposedGateway, current: () => ReadonlyMap<string, PublicDocument>) {
  /** By the text of a document: a changed one is priced anew. */
  let prices = new Map<string, ReturnType<typeof priceOf>>();

  async function priced() {
    const priced: { readonly document: PublicDocument; readonly price: DocumentPrice }[] = [];
    const cachedPrices = prices;
    prices = new Map();
    for (const document of current().values()) {
      const asked = cachedPrices.get(document.text) ?? priceOf(handle, document);
      prices.set(document.text, asked);
      const price = await asked;
      // A price that can't be known for want of room is asked for again.
      if (price === null) prices.delete(document.text);
      priced.push({ document, price });
    }
    return priced;
  }

  return {
    /** Describes them in OpenAPI's words, with paths behind the address `base`. */
    async text(base: string, version: string): Promise<string> {
      const paths = (await priced()).flatMap(({ document, price }) =>
        endingsOf(document).map((ending) => [
          `/c/${document.name}${ending}`,
          itemOf(document, ending, price),
        ]),
      );
      return JSON.stringify({
        openapi: '3.1.0',
        info: { title: 'Public documents', version },
        servers: [{ url: base }],
        paths: Object.fromEntries(paths),
      });
    },
    /** Describes them in words, for models. */
    async things() {
      return (await priced()).map(({ document, price }) => {
        const { name, title, description, variables } = document;
        const forms = endingsOf(document).filter((ending) => ending !== '');
        const given = variables.map((variable) => variable.name).join(', ');
        const costs =
          price === null
            ? 'What it costs depends on its variables.'
            : `Costs ${price.expected} call(s) to the metered service where nothing is cached: at least ${price.least}, at most ${price.most}.`;
        const parameters = given === '' ? '' : ` Parameters: ${given}.`;
        const words = `${description ?? ''} A page; its data and picture are beside it as ${forms.join(', ')}.${parameters} ${costs}`;
        return { name: `[${title ?? name}](c/${name})`, words };
      });
    },
  };
}

/** The byte order mark by which spreadsheets tell that a table is UTF-8. */
const MARK_PARAMETER = {
  name: 'bom',
  in: 'query',
  schema: { type: 'string', enum: ['present', 'absent'], default: 'absent' },
};

/** Asks for the price of a document if nothing is cached, in calls to the service. Null if it can't be known. */
async function priceOf(
  handle: ComposedGateway['handle'],
  { documentId, operationName, sample }: PublicDocument,
) {
  const { body } = await handle({
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json',
      authorization: NO_KEY,
      'x-explain': '1',
    },
    search: '',
    body: { documentId, operationName, variables: sample },
    signal: new AbortController().signal,
  });
  const reply = parseExactly(await wholeBody(body));
  const { extensions } = isObject(reply) ? reply : {};
  const { explain } = isObject(extensions) ? extensions : {};
  if (!isObject(explain)) return null;
  return { least: Number(explain.least), expected: Number(explain.calls), most: Number(explain.most) };
}

type DocumentPrice = Awaited<ReturnType<typeof priceOf>>;

function endingsOf({ table }: PublicDocument): readonly string[] {
  return Object.keys(TYPES).filter((ending) => table !== null || (ending !== '.csv' && ending !== '.arrow'));
}

function itemOf(document: PublicDocument, ending: string, price: DocumentPrice): object {
  const { name, title, description } = document;
  const isPicture = ending === '.svg' || ending === '.png';
  return {
    get: {
      operationId: `${name}${ending.replace('.', '_')}`,
      summary: title ?? name,
      ...(description === null ? {} : { description }),
      parameters: [
        ...parametersOf(document),
        ...(isPicture ? LOOK_PARAMETERS : []),
        ...(ending === '.csv' ? [MARK_PARAMETER] : []),
      ],
      responses: {
        200: { description: 'As asked for.', content: { [TYPES[ending] ?? '']: {} } },
        304: { description: 'The data are those of `If-None-Match`.' },
        ...REFUSALS,
      },
      // Calls to the metered service if nothing is cached; null if that depends on the variables.
      'x-upstream-calls': price,
    },
  };
}

/** JSON's types of scalars; all others are texts in an address. */
const SCALARS: Readonly<Record<string, object>> = {
  Int: { type: 'integer' },
  Float: { type: 'number' },
  Boolean: { type: 'boolean' },
  CountryCode: { type: 'string', pattern: '^[A-Za-z]{2}$' },
  DateTime: { type: 'string', format: 'date-time' },
};

function schemaOf(type: GraphQLInputType): object {
  const bare = getNullableType(type);
  if (isListType(bare)) return { type: 'array', items: schemaOf(bare.ofType) };
  if (isEnumType(bare)) return { type: 'string', enum: bare.getValues().map(({ name }) => name) };
  return SCALARS['name' in bare ? bare.name : ''] ?? { type: 'string' };
}

function parametersOf({ variables }: PublicDocument): readonly object[] {
  return variables.map(({ name, type, definition: { description, defaultValue } }) => {
    const value = defaultValue === undefined ? {} : { default: valueFromASTUntyped(defaultValue) };
    return {
      name,
      in: 'query',
      required: isNonNullType(type) && defaultValue === undefined,
      ...(description === undefined ? {} : { description: description.value }),
      style: 'form',
      explode: false,
      schema: { ...schemaOf(type), ...value },
    };
  });
}
