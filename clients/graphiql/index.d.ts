/** The folder of the built pages: static files, of which `index.html` is the page. */
export declare const folder: string;

/** What `settings.json`, beside the page, says of the endpoint. */
export interface Settings {
  /** Its address, from the page's folder: `../graphql`, or one of another host. */
  readonly endpoint: string;
  /** Heading of the page, `GraphiQL` if left out. */
  readonly title?: string;
  /** True if it answers a request with `x-explain: 1` with a price, and runs nothing: otherwise no price is asked for. */
  readonly explains?: boolean;
}
