/** A document as clients hand it on, which some build tools have stored by a hash. */
interface GivenDocument {
  readonly definitions?: unknown;
  readonly documentId?: unknown;
  readonly __meta__?: { readonly hash?: unknown };
}

/** True for a document that is sent as its hash: the gateway answers the stored one, whatever this one says. */
export function isFixed({ definitions, documentId, __meta__: meta }: GivenDocument): boolean {
  return !Array.isArray(definitions) || documentId !== undefined || meta?.hash !== undefined;
}
