import { GATEWAY } from './addresses.ts';

/** What the page asks, and what that answers besides GraphQL. */
export interface Endpoint {
  readonly url: string;
  /** Heading of the page. */
  readonly title: string;
  /** False if it is no Country Graph: what knows its schema isn't offered then, such as lessons, the catalogue and pictures. */
  readonly isOurs: boolean;
  /** True if it answers `x-explain` with a price; others would run the operation. */
  readonly explains: boolean;
}

let asked: Endpoint = { url: `${GATEWAY}graphql`, title: 'Country Graph', isOurs: true, explains: true };

/** The gateway's, until the settings of the page have named another. */
export const endpoint = (): Endpoint => asked;

export function setEndpoint(other: Endpoint): void {
  asked = other;
}
