import { boundedName, type StartedServices } from '../../plugin/index.ts';
import { nameAndPage } from './attribution.ts';
import { FORMS, type Form, formsBeside, isCsv } from './document-forms.ts';
import { type PublicDocument, WIDTHS } from './public-documents.ts';

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

type Price = Awaited<ReturnType<StartedServices['price']>>;

/** Describes all public documents, each with its price, which is asked for once. */
export function openApiOf(
  { price, site: { attribution } }: StartedServices,
  current: () => ReadonlyMap<string, PublicDocument>,
) {
  async function priced() {
    const priced: { readonly document: PublicDocument; readonly price: Price }[] = [];
    for (const document of current().values()) priced.push({ document, price: await price(document) });
    return priced;
  }

  return {
    async text(base: string, version: string): Promise<string> {
      const paths = (await priced()).flatMap(({ document, price }) =>
        (['page', ...formsBeside(document)] as const).map((form) => [
          `/c/${document.name}${form === 'page' ? '' : `.${form}`}`,
          itemOf(document, form, price),
        ]),
      );
      return JSON.stringify({
        openapi: '3.1.0',
        // Documents are public: requests need no key.
        security: [],
        info: { title: 'Public documents', description: `Data: ${nameAndPage(attribution)}.`, version },
        servers: [{ url: base }],
        paths: Object.fromEntries(paths),
      });
    },
    /** For models, in words. */
    async things() {
      return (await priced()).map(({ document, price }) => {
        const { name, title, description, variables } = document;
        const forms = formsBeside(document).map((form) => `.${form}`);
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

/** Spreadsheets recognise UTF-8 by the byte order mark. */
const MARK_PARAMETER = {
  name: 'bom',
  in: 'query',
  schema: { type: 'string', enum: ['present', 'absent'], default: 'absent' },
};

function itemOf(document: PublicDocument, form: Form, price: Price): object {
  const { name, title, description } = document;
  const { limit: _, ...calls } = price ?? {};
  return {
    get: {
      operationId: boundedName(form === 'page' ? name : `${name}_${form.replace('.', '_')}`, name),
      summary: title ?? name,
      ...(description === null ? {} : { description }),
      parameters: [
        ...parametersOf(document),
        ...(FORMS[form].kind === 'picture' && form !== 'html' ? LOOK_PARAMETERS : []),
        ...(isCsv(form) ? [MARK_PARAMETER] : []),
      ],
      responses: {
        200: { description: 'As asked for.', content: { [FORMS[form].type]: {} } },
        304: { description: 'The data are those of `If-None-Match`.' },
        ...REFUSALS,
      },
      // With nothing cached; null if it depends on the variables.
      'x-upstream-calls': price && calls,
    },
  };
}

function parametersOf({ variables }: PublicDocument): readonly object[] {
  return variables.map(({ name, isRequired, description, usual, schema }) => ({
    name,
    in: 'query',
    required: isRequired,
    ...(description === null ? {} : { description }),
    style: 'form',
    explode: false,
    schema: { ...schema, ...(usual === null ? {} : { default: usual.value }) },
  }));
}
