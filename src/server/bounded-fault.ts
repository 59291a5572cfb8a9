import { stdSerializers } from 'pino';

/**
 * Characters of one fault in the log: enough for whole stacks with their causes, but not for an answer of a service,
 * nor thousands of faults.
 */
const MAX_LENGTH = 65_536;
const MAX_TEXT = 16_384;
const MAX_ITEMS = 20;
const MAX_DEPTH = 8;

/**
 * Bounds a fault for the log. A fault of some length stays whole; of a longer one its beginning stays, which says how
 * much is left out.
 */
export function boundedFault(fault: unknown): unknown {
  let left = MAX_LENGTH;
  const spend = (text: string): string => {
    const most = Math.min(MAX_TEXT, left);
    left -= Math.min(text.length, most);
    return text.length <= most ? text : `${text.slice(0, most)}… (${text.length - most} characters more)`;
  };
  const bound = (value: unknown, depth: number): unknown => {
    if (typeof value === 'string') return spend(value);
    // A value with a `toJSON` makes its text before anyone looks into it.
    if (typeof value !== 'object' || value === null || 'toJSON' in value) return value;
    if (depth === 0 || left <= 0) return '…';
    if (Array.isArray(value)) {
      const others = value.length - MAX_ITEMS;
      const told = value.slice(0, MAX_ITEMS).map((item) => bound(item, depth - 1));
      return others > 0 ? [...told, `… (${others} more)`] : told;
    }
    const entries: [string, unknown][] = [];
    for (const [name, item] of Object.entries(value)) {
      if (left <= 0) break;
      entries.push([spend(name), bound(item, depth - 1)]);
    }
    return Object.fromEntries(entries);
  };
  return bound(fault instanceof Error ? stdSerializers.err(withFewErrors(fault)) : fault, MAX_DEPTH);
}

/**
 * Keeps few of an aggregate's errors. Stacks are made only when somebody looks at them, and to make thousands takes
 * seconds.
 */
function withFewErrors(fault: Error): Error {
  if (!(fault instanceof AggregateError) || fault.errors.length <= MAX_ITEMS) return fault;
  return Object.create(fault, {
    errors: { value: fault.errors.slice(0, MAX_ITEMS) },
    errorsLeftOut: { value: fault.errors.length - MAX_ITEMS, enumerable: true },
  });
}
