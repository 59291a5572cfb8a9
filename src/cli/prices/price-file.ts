/** The file of prices: JSON, an operation a line, so that a diff shows what a change of the code costs. */

import { z } from 'zod';
import { checkedJson } from '../../shared/text-files.ts';

const calls = z.number().int().min(0);

const fileOfPrices = z.object({
  operations: z.record(
    z.string(),
    z.object({
      file: z.string(),
      /** Calls with nothing cached. */
      cold: calls,
      /** Calls with the lists of countries, indicators and sources cached. */
      warm: calls,
      /** Those of `cold`. */
      byRoute: z.record(z.string(), calls),
    }),
  ),
  visits: z.array(z.object({ operations: z.array(z.string()), each: z.array(calls), calls })),
});

export type Prices = z.output<typeof fileOfPrices>;

/** @throws FileError */
export function readPrices(text: string, file: string): Prices {
  return checkedJson(fileOfPrices, text, file);
}

export function writtenPrices({ operations, visits }: Prices): string {
  const lines = (entries: readonly string[]) => entries.map((entry) => `\n    ${entry}`).join(',');
  const ofOperations = Object.entries(operations).map(
    ([name, price]) => `${JSON.stringify(name)}: ${JSON.stringify(price)}`,
  );
  const ofVisits = visits.map((visit) => JSON.stringify(visit));
  return `{\n  "operations": {${lines(ofOperations)}\n  },\n  "visits": [${lines(ofVisits)}\n  ]\n}\n`;
}

type Change = readonly [before: number, now: number];

interface Risen {
  readonly name: string;
  readonly cold: Change;
  readonly warm: Change;
}

export interface Differences {
  readonly isNone: boolean;
  readonly risen: readonly Risen[];
  /** What else differs, in words. */
  readonly others: readonly string[];
}

export function differencesOf(before: Prices, now: Prices): Differences {
  const risen: Risen[] = [];
  const others: string[] = [];
  for (const [name, price] of Object.entries(now.operations)) {
    const old = before.operations[name];
    if (old === undefined) others.push(`${name} (${price.file}) is new, for ${price.cold} calls`);
    else if (price.cold > old.cold || price.warm > old.warm)
      risen.push({ name, cold: [old.cold, price.cold], warm: [old.warm, price.warm] });
    else if (JSON.stringify(price) !== JSON.stringify(old)) others.push(`${name} differs, and is not dearer`);
  }
  for (const name of Object.keys(before.operations))
    if (now.operations[name] === undefined) others.push(`${name} is gone`);
  if (JSON.stringify(before.visits) !== JSON.stringify(now.visits)) others.push('Visits differ');
  return { isNone: risen.length + others.length === 0, risen, others };
}
