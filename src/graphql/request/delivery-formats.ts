import type { GraphQLFormattedError } from 'graphql';
import type { IncrementalRun } from '../execution/incremental.ts';
import { RULED_OUT } from './accept.ts';

export interface WrittenPart {
  /** Then its errors are those of the part that it belongs to. */
  readonly isLost: boolean;
  /** JSON; null if the part is lost. */
  readonly data: string | null;
  readonly errors: readonly GraphQLFormattedError[];
}

type DeliveredPart = ReturnType<IncrementalRun<WrittenPart>['take']>[number];

/** Members of each part's JSON object, without those that all formats share. */
export interface DeliveryFormat {
  /** Of `Content-Type`, beside the boundary. */
  readonly parameter: string;
  /** Announces the parts to come. */
  first(pending: readonly DeliveredPart[]): string;
  /** Empty if there is nothing to say. */
  next(parts: readonly DeliveredPart[]): string;
}

/**
 * The draft of 2022-08-24: each part names its path and label. A part whose object is within the fragment comes before
 * the fragment's own, which has the label.
 */
const DRAFT_2022: DeliveryFormat = {
  parameter: 'deferSpec=20220824',
  first: () => '',
  next: (parts) => list('incremental', parts.flatMap(entriesOf2022)),
};

/** The format of graphql-js 17 (alpha 9): each part to come is announced by an identifier, and said to be complete. */
const DRAFT_V02: DeliveryFormat = {
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
 * Null if no known format is asked for. Clients that name no version, such as GraphiQL and urql, know the older one.
 */
export function deliveryFormatFor(accepts: string): DeliveryFormat | null {
  for (const range of accepts.split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    if (type !== 'multipart/mixed' || RULED_OUT.test(range)) continue;
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

function entriesOf2022(delivered: DeliveredPart): string[] {
  const { path, label } = delivered.of;
  const labelled = label === undefined ? '' : `"label":${JSON.stringify(label)},`;
  if (delivered.kind === 'pending') return [];
  const at = JSON.stringify(path);
  if (delivered.failed !== null)
    return [`{${labelled}"path":${at},"data":null${errorsOf(delivered.failed)}}`];
  const isWithin = (part: (typeof delivered.parts)[number]) => part.path.length > path.length;
  const within = delivered.parts
    .filter(isWithin)
    .map(({ path, part }) => `{"path":${JSON.stringify(path)},"data":${part.data}${errorsOf(part)}}`);
  const newParts = delivered.parts.filter((part) => !isWithin(part)).map(({ part }) => part);
  const last = newParts.pop();
  return [
    ...within,
    ...newParts.map((part) => `{"path":${at},"data":${part.data}${errorsOf(part)}}`),
    `{${labelled}"path":${at},"data":${last?.data ?? '{}'}${last === undefined ? '' : errorsOf(last)}}`,
  ];
}

function pendingOf(delivered: DeliveredPart): string[] {
  if (delivered.kind !== 'pending') return [];
  const { id, path, label } = delivered.of;
  return [JSON.stringify({ id: String(id), path, label })];
}

function entriesOfV02(delivered: DeliveredPart): string[] {
  if (delivered.kind !== 'fragment') return [];
  const id = idOf(delivered.of);
  const above = delivered.of.path.length;
  return delivered.parts.map(({ path, part }) => {
    const below = path.slice(above);
    const subPath = below.length === 0 ? '' : `,"subPath":${JSON.stringify(below)}`;
    return `{${id}${subPath},"data":${part.data}${errorsOf(part)}}`;
  });
}

function completedOf(delivered: DeliveredPart): string[] {
  if (delivered.kind !== 'fragment') return [];
  return [`{${idOf(delivered.of)}${delivered.failed === null ? '' : errorsOf(delivered.failed)}}`];
}

const idOf = ({ id }: DeliveredPart['of']) => `"id":"${id}"`;

function errorsOf({ errors }: WrittenPart): string {
  return errors.length === 0 ? '' : `,"errors":${JSON.stringify(errors)}`;
}

function list(name: string, entries: readonly string[]): string {
  return entries.length === 0 ? '' : `"${name}":[${entries.join(',')}],`;
}
