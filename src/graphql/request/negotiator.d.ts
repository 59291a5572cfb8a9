/** The part that the gateway uses; the package has no types of its own. */
declare module 'negotiator' {
  export default class Negotiator {
    constructor(request: { readonly headers: { readonly accept: string } });
    /** Of types that a client likes equally, the one that it names first, and then the first here. */
    mediaType<Type extends string>(available: readonly Type[]): Type | undefined;
  }
}
