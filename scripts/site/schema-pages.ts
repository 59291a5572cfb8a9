import {
  type ConstValueNode,
  type FieldDefinitionNode,
  type InputValueDefinitionNode,
  Kind,
  print,
  type TypeNode,
} from 'graphql';
import type { FieldCost } from '../../src/graph/selection.ts';
import { escapeHtml } from './html.ts';
import { firstSentence, type Heading, type RenderContext, renderText } from './markdown.ts';
import {
  type DescribedType,
  directiveOf,
  isBuiltIn,
  nameIn,
  type SchemaModel,
  textArgument,
} from './schema-model.ts';

export interface SchemaPage {
  readonly html: string;
  readonly headings: readonly Heading[];
}

const KINDS: Readonly<Record<DescribedType['kind'], string>> = {
  [Kind.OBJECT_TYPE_DEFINITION]: 'Object type',
  [Kind.INTERFACE_TYPE_DEFINITION]: 'Interface',
  [Kind.INPUT_OBJECT_TYPE_DEFINITION]: 'Input type',
  [Kind.ENUM_TYPE_DEFINITION]: 'Enum',
  [Kind.SCALAR_TYPE_DEFINITION]: 'Scalar',
};

/** Groups of the overview, in its order. */
const GROUPS: Readonly<Record<string, (type: DescribedType) => boolean>> = {
  'Where operations begin': ({ name }) => isRoot(name.value),
  'Object types': ({ kind, name }) =>
    kind === Kind.OBJECT_TYPE_DEFINITION && !isRoot(name.value) && !isOfPages(name.value),
  Interfaces: ({ kind }) => kind === Kind.INTERFACE_TYPE_DEFINITION,
  'Pages of lists': ({ kind, name }) => kind === Kind.OBJECT_TYPE_DEFINITION && isOfPages(name.value),
  'Input types': ({ kind }) => kind === Kind.INPUT_OBJECT_TYPE_DEFINITION,
  Enums: ({ kind }) => kind === Kind.ENUM_TYPE_DEFINITION,
  Scalars: ({ kind }) => kind === Kind.SCALAR_TYPE_DEFINITION,
};

const isRoot = (name: string) => /^(Query|Mutation|Subscription)$/.test(name);
const isOfPages = (name: string) => /(Connection|Edge|^PageInfo)$/.test(name);

/** Words of a badge for a field's cost, and their meaning. */
const COSTS: Readonly<Record<Exclude<FieldCost, 'NOTHING'>, readonly [name: string, meaning: string]>> = {
  ONCE: ['one call', 'One upstream call an operation, for however many objects.'],
  EACH: ['a call each', 'One upstream call for each object that has the field.'],
  FIGURES: ['merged', 'Figures travel together in one data call, as far as its row limit allows.'],
  IDENTIFIED: ['by identifier', 'What the identifiers stand for decides what is asked for.'],
  REFERENCED: ['by reference', 'What the references stand for decides what is asked for.'],
  UNSAID: ['any', 'May ask for anything.'],
};

/** Types in the groups of the overview. */
export function groupedTypes({
  types,
}: SchemaModel): readonly (readonly [string, readonly DescribedType[]])[] {
  return Object.entries(GROUPS).map(([group, isOf]) => [
    group,
    types.filter(isOf).toSorted((a, b) => (a.name.value < b.name.value ? -1 : 1)),
  ]);
}

export function schemaOverview(model: SchemaModel, context: RenderContext): SchemaPage {
  const sections = groupedTypes(model).map(([group, types]) => {
    const id = group.toLowerCase().replaceAll(' ', '-');
    const rows = types.map(({ name, description }) => {
      const sentence = renderText(firstSentence(description?.value ?? ''), context);
      return `<dt><a href="${context.nameTo(name.value)}"><code>${name.value}</code></a></dt><dd>${sentence}</dd>`;
    });
    return { group, id, html: `<h2 id="${id}">${group}</h2><dl class="types">${rows.join('\n')}</dl>` };
  });
  const badges = Object.values(COSTS)
    .slice(0, 4)
    .map(([name, meaning]) => `<dt>${badge(name, meaning)}</dt><dd>${meaning}</dd>`);
  const html = `<h1 id="schema">Schema</h1>
<p class="lead">Every type and field, made from the SDL. A badge says what a field may ask the metered service for; one without a badge costs nothing.</p>
<dl class="badges">${badges.join('\n')}<dt><span class="badge null">null only with an error</span></dt><dd>Nullable so that it can fail alone (<code>@semanticNonNull</code>): there is an error at or below it wherever it is null.</dd></dl>
${sections.map((section) => section.html).join('\n')}`;
  return {
    html,
    headings: [
      { level: 1, id: 'schema', text: 'Schema', summary: 'Every type and field, made from the SDL.' },
      ...sections.map(({ group, id }) => ({ level: 2, id, text: group, summary: '' })),
    ],
  };
}

export function typePage(type: DescribedType, model: SchemaModel, context: RenderContext): SchemaPage {
  const name = type.name.value;
  const members = membersOf(type, model, context);
  const uses = model.usesOf(name);
  const html = `<p class="kind">${KINDS[type.kind]}</p>
<h1 id="${name.toLowerCase()}"><code>${name}</code></h1>
${renderText(type.description?.value ?? '', context, false)}
${factsOf(type, context)}
${members.map((member) => member.html).join('\n')}
${uses.length === 0 ? '' : `<h2 id="used-by">Used by</h2><ul class="uses">${uses.map((use) => `<li>${named(use, context)}</li>`).join('')}</ul>`}`;
  return {
    html,
    headings: [
      { level: 1, id: name.toLowerCase(), text: name, summary: firstSentence(type.description?.value ?? '') },
      ...members.map(({ heading }) => heading),
      ...(uses.length === 0 ? [] : [{ level: 2, id: 'used-by', text: 'Used by', summary: '' }]),
    ],
  };
}

interface Member {
  readonly html: string;
  readonly heading: Heading;
}

function membersOf(type: DescribedType, model: SchemaModel, context: RenderContext): Member[] {
  switch (type.kind) {
    case Kind.OBJECT_TYPE_DEFINITION:
    case Kind.INTERFACE_TYPE_DEFINITION:
      return (type.fields ?? []).map((field) => fieldSection(type.name.value, field, model, context));
    case Kind.INPUT_OBJECT_TYPE_DEFINITION:
      return (type.fields ?? []).map((field) =>
        member(field.name.value, `: ${typeHtml(field.type, context)}${defaultOf(field)}`, '', field, context),
      );
    case Kind.ENUM_TYPE_DEFINITION:
      return (type.values ?? []).map((value) => member(value.name.value, '', '', value, context));
    default:
      return [];
  }
}

function fieldSection(
  typeName: string,
  field: FieldDefinitionNode,
  model: SchemaModel,
  context: RenderContext,
): Member {
  const args = field.arguments ?? [];
  const listed = args.length === 0 ? '' : `(${args.map(({ name }) => name.value).join(', ')})`;
  const rows = args.map(
    (arg) =>
      `<dt><code>${arg.name.value}: ${typeHtml(arg.type, context)}${defaultOf(arg)}</code></dt><dd>${renderText(arg.description?.value ?? '', context)}</dd>`,
  );
  const below =
    rows.length === 0 ? '' : `<dl class="arguments" aria-label="Arguments">${rows.join('\n')}</dl>`;
  const badges = badgesOf(typeName, field, model);
  return member(
    field.name.value,
    `${listed}: ${typeHtml(field.type, context)}`,
    badges,
    field,
    context,
    below,
  );
}

type Described = Pick<FieldDefinitionNode, 'description' | 'directives'>;

function member(
  name: string,
  signature: string,
  badges: string,
  described: Described,
  context: RenderContext,
  below = '',
): Member {
  const id = name;
  const deprecated = directiveOf(described, 'deprecated');
  const reason = textArgument(deprecated, 'reason') ?? 'It will be removed.';
  const notice =
    deprecated === undefined
      ? ''
      : `<p class="deprecated"><strong>Deprecated.</strong> ${renderText(reason, context)}</p>`;
  const description = described.description?.value ?? '';
  const html = `<section class="member"><div class="member-head"><h2 id="${id}"><code>${name}<span class="signature">${signature}</span></code> <a class="anchor" href="#${id}" aria-label="Link to ${name}">#</a></h2>
${badges === '' ? '' : `<p class="badge-line">${badges}</p>`}</div>${notice}${renderText(description, context, false)}${below}</section>`;
  return { html, heading: { level: 2, id, text: name, summary: firstSentence(description) } };
}

function badgesOf(typeName: string, field: FieldDefinitionNode, model: SchemaModel): string {
  const cost = model.costOf(typeName, field.name.value);
  const [name, meaning] = cost === 'NOTHING' ? [] : COSTS[cost];
  const costBadge = name === undefined ? '' : badge(name, meaning ?? '');
  const nullBadge =
    directiveOf(field, 'semanticNonNull') === undefined
      ? ''
      : '<span class="badge null" title="Nullable so that it can fail alone: wherever it is null, there is an error at or below it.">null only with an error</span>';
  return [costBadge, nullBadge].filter((one) => one !== '').join(' ');
}

const badge = (name: string, meaning: string) =>
  `<span class="badge cost" title="${escapeHtml(meaning)}">${escapeHtml(name)}</span>`;

/** Interfaces of a type, and its identity in other subgraphs. */
function factsOf(type: DescribedType, context: RenderContext): string {
  const facts: string[] = [];
  const interfaces = 'interfaces' in type ? (type.interfaces ?? []) : [];
  if (interfaces.length > 0)
    facts.push(`Implements ${interfaces.map(({ name }) => named(name.value, context)).join(', ')}.`);
  const key = textArgument(directiveOf(type, 'key'), 'fields');
  if (key !== null) facts.push(`An entity of the supergraph, by <code>${escapeHtml(key)}</code>.`);
  const address = textArgument(directiveOf(type, 'specifiedBy'), 'url');
  if (address !== null)
    facts.push(`Specified by <a href="${escapeHtml(address)}">${escapeHtml(address)}</a>.`);
  return facts.length === 0 ? '' : `<p class="facts">${facts.join(' ')}</p>`;
}

function typeHtml(type: TypeNode, context: RenderContext): string {
  if (type.kind === Kind.NON_NULL_TYPE) return `${typeHtml(type.type, context)}!`;
  if (type.kind === Kind.LIST_TYPE) return `[${typeHtml(type.type, context)}]`;
  const name = nameIn(type);
  return isBuiltIn(name) ? `<span class="t">${name}</span>` : `<a href="${context.nameTo(name)}">${name}</a>`;
}

function defaultOf({ defaultValue }: InputValueDefinitionNode): string {
  const shown = (value: ConstValueNode) => escapeHtml(print(value));
  return defaultValue === undefined ? '' : ` = ${shown(defaultValue)}`;
}

function named(name: string, context: RenderContext): string {
  const target = context.nameTo(name);
  return target === null ? `<code>${name}</code>` : `<a href="${target}"><code>${name}</code></a>`;
}
