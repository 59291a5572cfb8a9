/** The operation has no plan; `message` names every fault, a line each. */
export class Unexplained extends Error {
  override readonly name = 'Unexplained';
}
