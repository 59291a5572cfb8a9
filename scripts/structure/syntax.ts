/** A node of a syntax tree, as far as it is looked at. */
export interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

export const FUNCTIONS = /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/;

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

export function childrenOf(node: Node): Node[] {
  return Object.values(node).flat().filter(isNode);
}

/** Nodes of a list-like field. */
export function nodesOf(value: unknown): Node[] {
  return Array.isArray(value) ? value.filter(isNode) : [];
}

/** Name of an identifier, without the `#` of a private one; empty for anything else. */
export function nameOf(value: unknown): string {
  return isNode(value) && typeof value.name === 'string' ? value.name : '';
}

/** Text of a literal; null for anything else. */
export function textOf(value: unknown): string | null {
  return isNode(value) && typeof value.value === 'string' ? value.value : null;
}

/** Name by which a table is reached: of `table`, `this.#table`, `of.table`. */
export function lastNameOf(value: unknown): string {
  if (!isNode(value)) return '';
  return value.type === 'MemberExpression' ? nameOf(value.property) : nameOf(value);
}

/** Name of the type that an annotated binding, or a type, refers to, with none of its arguments. */
export function typeNameOf(value: unknown): string {
  if (!isNode(value)) return '';
  if (value.type === 'TSTypeAnnotation') return typeNameOf(value.typeAnnotation);
  if (value.type === 'TSTypeReference') return nameOf(value.typeName);
  return isNode(value.typeAnnotation) ? typeNameOf(value.typeAnnotation) : '';
}

/** Names that a parameter or a declaration binds. */
export function boundNames(pattern: Node): string[] {
  switch (pattern.type) {
    case 'Identifier':
      return [nameOf(pattern)];
    case 'ObjectPattern':
      return nodesOf(pattern.properties).flatMap((property) => {
        const bound = property.type === 'RestElement' ? property.argument : property.value;
        return isNode(bound) ? boundNames(bound) : [];
      });
    case 'ArrayPattern':
      return nodesOf(pattern.elements).flatMap(boundNames);
    case 'AssignmentPattern':
      return isNode(pattern.left) ? boundNames(pattern.left) : [];
    case 'RestElement':
      return isNode(pattern.argument) ? boundNames(pattern.argument) : [];
    default:
      return [];
  }
}
