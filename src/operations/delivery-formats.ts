import type { GraphQLFormattedError } from 'graphql';
import type { Delivered, PendingDelivery, ToldPart } from '../execution/delivery-order.ts';

/** A part of an answer, written: an object's fields, or an array of items. */
export interface WrittenPart extends ToldPart {
  /** JSON; null if the part is lost. */
  readonly data: string | null;
  readonly errors: readonly GraphQLFormattedError[];
}

export type DeliveredPart = Delivered<WrittenPart>;

/** The form of the parts of an answer: members of one JSON object, without those that all formats have. */
export interface DeliveryFormat {
  /** The parameter of `Content-Type` beside the boundary. */
  readonly parameter: string;
  /** Writes the members of the first part that announce the parts to come. */
  first(pending: readonly DeliveredPart[]): string;
  /** Returns an empty text if there is nothing to say. */
  next(parts: readonly DeliveredPart[]): string;
}

/**
 * The draft of 2022-08-24: each part names its path and label. A part whose object is within the fragment comes before
 * the fragment's own, which has the label.
 */
export const DRAFT_2022: DeliveryFormat = {
  parameter: 'deferSpec=20220824',
  first: () => '',
  next: (parts) => list('incremental', parts.flatMap(entriesOf2022)),
};

/** The format of graphql-js 17 (alpha 9): each part to come is announced by an identifier, and said to be complete. */
export const DRAFT_V02: DeliveryFormat = {
  parameter: 'incrementalSpec=v0.2',
  first: (pending) => list('pending', pending.flatMap(pendingOf)),
  next: (parts) =>
    [
      list('pending', parts.flatMap(pendingOf)),
      list('incremental', parts.flatMap(entriesOfV02)),
      list('completed', parts.flatMap(completedOf)),
    ].join(''),
};

/**
 * Returns the format that an `Accept` header asks for; null if it asks for none that is known. Clients that name no
 * version, as GraphiQL and urql do, know the older one.
 */
export function deliveryFormatFor(accepts: string): DeliveryFormat | null {
  for (const range of accepts.split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    if (type !== 'multipart/mixed' || parameters.some((parameter) => RULED_OUT.test(parameter))) continue;
    const versions = parameters
      .map((parameter) => parameter.replace(/ *= *"?([^"]*)"?$/, '=$1'))
      .filter((parameter) => /^(defer|incremental)spec=/.test(parameter));
    if (versions.length === 0) return DRAFT_2022;
    const format = [DRAFT_2022, DRAFT_V02].find(({ parameter }) =>
      versions.includes(parameter.toLowerCase()),
    );
    if (format !== undefined) return format;
  }
  return null;
}

const RULED_OUT = /^q *= *0(\.0*)?$/;

/** Takes the types of answers in parts out of an `Accept` header. */
export function withoutMultipart(accepts: string): string {
  const others = accepts.split(',').filter((range) => !/^ *multipart\/mixed *(;|$)/i.test(range));
  return others.join(',').trim() || 'application/json';
}

function entriesOf2022(told: DeliveredPart): string[] {
  const { path, label } = told.of;
  const labelled = label === undefined ? '' : `"label":${JSON.stringify(label)},`;
  if (told.kind === 'items') {
    const at = JSON.stringify([...path, told.first]);
    return [`{${labelled}"path":${at},"items":${told.part.data}${errorsOf(told.part)}}`];
  }
  if (told.kind === 'list') {
    const at = JSON.stringify([...path, told.first]);
    return told.failed === null ? [] : [`{${labelled}"path":${at},"items":null${errorsOf(told.failed)}}`];
  }
  if (told.kind === 'pending') return [];
  const at = JSON.stringify(path);
  if (told.failed !== null) return [`{${labelled}"path":${at},"data":null${errorsOf(told.failed)}}`];
  const isWithin = (part: (typeof told.parts)[number]) => part.path.length > path.length;
  const within = told.parts
    .filter(isWithin)
    .map(({ path, part }) => `{"path":${JSON.stringify(path)},"data":${part.data}${errorsOf(part)}}`);
  const own = told.parts.filter((part) => !isWithin(part)).map(({ part }) => part);
  const last = own.pop();
  return [
    ...within,
    ...own.map((part) => `{"path":${at},"data":${part.data}${errorsOf(part)}}`),
    `{${labelled}"path":${at},"data":${last?.data ?? '{}'}${last === undefined ? '' : errorsOf(last)}}`,
  ];
}

function pendingOf(told: DeliveredPart): string[] {
  if (told.kind !== 'pending') return [];
  const { id, path, label } = told.of;
  return [JSON.stringify({ id: String(id), path, label })];
}

function entriesOfV02(told: DeliveredPart): string[] {
  const id = idOf(told.of);
  if (told.kind === 'items') return [`{${id},"items":${told.part.data}${errorsOf(told.part)}}`];
  if (told.kind !== 'fragment') return [];
  const above = told.of.path.length;
  return told.parts.map(({ path, part }) => {
    const below = path.slice(above);
    const subPath = below.length === 0 ? '' : `,"subPath":${JSON.stringify(below)}`;
    return `{${id}${subPath},"data":${part.data}${errorsOf(part)}}`;
  });
}

function completedOf(told: DeliveredPart): string[] {
  if (told.kind !== 'fragment' && told.kind !== 'list') return [];
  return [`{${idOf(told.of)}${told.failed === null ? '' : errorsOf(told.failed)}}`];
}

const idOf = ({ id }: PendingDelivery) => `"id":"${id}"`;

function errorsOf({ errors }: WrittenPart): string {
  return errors.length === 0 ? '' : `,"errors":${JSON.stringify(errors)}`;
}

function list(name: string, entries: readonly string[]): string {
  return entries.length === 0 ? '' : `"${name}":[${entries.join(',')}],`;
}
