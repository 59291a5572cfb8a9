const wanted = Promise.withResolvers<void>();

/** Resolves once the editor, and the schema that it completes by, may be loaded. */
export const editorWanted: Promise<void> = wanted.promise;

export const wantEditor = (): void => wanted.resolve();
