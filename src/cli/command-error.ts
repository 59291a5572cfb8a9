/** A fault of a command's arguments, or of a thing that it found: the user reads `message`, and no stack. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}
