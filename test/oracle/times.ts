/** Spelling of a service's times. All are UTC. */
export type TimeSpelling = 'utc' | 'zoneless' | 'offset' | 'spaced' | 'slashes' | 'minutes' | 'day';

/**
 * An instant as a service spells it.
 * @param at RFC 3339 in UTC, with a fraction of a second or without
 */
export function spelledTime(at: string, spelling: TimeSpelling): string {
  const [day = '', time = ''] = at.replace('Z', '').split('T');
  switch (spelling) {
    case 'utc':
      return at;
    case 'zoneless':
      return `${day}T${time}`;
    case 'offset':
      return elsewhere(day, time);
    case 'spaced':
      return `${day} ${time}`;
    case 'slashes':
      return `${day.replaceAll('-', '/')} ${time}`;
    case 'minutes':
      return `${day}T${time.slice(0, 5)}`;
    case 'day':
      return day;
  }
}

/** The clock of Nairobi. */
function elsewhere(day: string, time: string): string {
  const [seconds = '', fraction] = time.split('.');
  const there = new Date(Date.parse(`${day}T${seconds}Z`) + 3 * 3_600_000).toISOString().slice(0, 19);
  return `${there}${fraction === undefined ? '' : `.${fraction}`}+03:00`;
}

/** The instant that a spelled time tells: the first one that it may mean. */
export function toldTime(at: string, spelling: TimeSpelling): string {
  if (spelling === 'day') return `${at.slice(0, 10)}T00:00:00Z`;
  return spelling === 'minutes' ? `${at.slice(0, 16)}:00Z` : at;
}

/** True if two instants are the same one, and both RFC 3339 in UTC. */
export function isSameTime(expected: string, actual: string): boolean {
  return RFC_3339.test(actual) && plainTime(expected) === plainTime(actual);
}

const RFC_3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z$/;

/** Time without the zeros that a fraction may end in. */
export function plainTime(text: string): string {
  return RFC_3339.test(text) ? text.replace(/(?:\.0+|(\.\d*?)0+)Z$/, '$1Z') : text;
}
