/** Colours of a picture; `ground` lies behind it. */
export interface Colours {
  readonly text: string;
  readonly muted: string;
  readonly ground: string;
  readonly grid: string;
  readonly outline: string;
  readonly above: string;
  readonly below: string;
  readonly other: string;
  /** Of lines, in the order of their rank; each stands out from the ground (WCAG AA for text). */
  readonly lines: readonly string[];
  /** Parts of the scheme of a map, 0 to 1, for its least and its highest value: the highest stands out from the ground. */
  readonly mapScheme: readonly [least: number, highest: number];
  /** Colours of a map of values below and above zero; null for those of a scheme for light grounds. */
  readonly mapAroundZero: readonly [below: string, zero: string, above: string] | null;
}

export const LIGHT: Colours = {
  text: '#1a2030',
  muted: '#5b6472',
  ground: '#ffffff',
  grid: '#d9dde3',
  outline: '#7a8494',
  above: '#2166ac',
  below: '#b2352a',
  other: '#b4bac4',
  lines: ['#0072b2', '#b84a00', '#007f5c', '#b0478a', '#6a4c93', '#806000', '#007f88', '#454b57'],
  mapScheme: [0.12, 1],
  mapAroundZero: null,
};

export const DARK: Colours = {
  text: '#e8ebf0',
  muted: '#a9b2c1',
  ground: '#212a3b',
  grid: '#3c475b',
  outline: '#0f1420',
  above: '#6db0e8',
  below: '#f2938a',
  other: '#5d6980',
  lines: ['#56b4e9', '#ffa64d', '#2fd6a3', '#f0a3cf', '#b9a5ff', '#e8d84a', '#5fd3dc', '#d5dae2'],
  mapScheme: [0.74, 0.02],
  mapAroundZero: ['#ff9d8a', '#56627a', '#86c8ff'],
};
