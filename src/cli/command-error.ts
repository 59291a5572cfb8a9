/** What is wrong with what a command was given, or with what it found: whoever typed it reads `message`, and no stack. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}
