import { parseSync } from 'oxc-parser';

/** One change to a compiled file: the characters from `start` to `end` become `replacement`. */
export interface Mutation {
  start: number;
  end: number;
  replacement: string;
  /** What was changed, in a few words: `await removed`. */
  kind: string;
}

/** A node of the ESTree syntax tree. Offsets count UTF-16 code units. */
interface Node {
  type: string;
  start: number;
  end: number;
  [field: string]: unknown;
}

/** Calls that no guarantee of the service depends on; they are not changed, nor are their arguments. */
const UNOBSERVED_CALLS = /^(?:this\.)?#?(?:logger|log)\b|^console\.|^super\(/;

const SWAPPED: Record<string, string[]> = {
  '<': ['<=', '>'],
  '<=': ['<', '>'],
  '>': ['>=', '<'],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '%': ['*'],
};

const isNode = (value: unknown): value is Node => typeof (value as Node | null)?.type === 'string';

/** The nodes directly below a node. */
const childrenOf = (node: Node): Node[] => Object.values(node).flat().filter(isNode);

/** Conditions: negated, always true, always false. */
function ofTest(test: Node, text: string): Mutation[] {
  const { start, end } = test;
  return [
    { start, end, replacement: `!(${text.slice(start, end)})`, kind: 'condition negated' },
    { start, end, replacement: 'true', kind: 'condition always true' },
    { start, end, replacement: 'false', kind: 'condition always false' },
  ];
}

function ofExpressionStatement(node: Node): Mutation[] {
  const expression = node.expression as Node;
  const call = expression.type === 'AwaitExpression' ? (expression.argument as Node) : expression;
  const { start, end } = expression;
  if (call.type === 'AssignmentExpression' || call.type === 'UpdateExpression')
    return [{ start, end, replacement: 'void 0', kind: 'assignment removed' }];
  if (call.type !== 'CallExpression') return [];
  return [{ start, end, replacement: 'void 0', kind: 'call removed' }];
}

/** The expression with another operator; compiled code has no comments between operands. */
function withOperator(node: Node, operator: string, text: string): string {
  const { start, end } = node;
  const [left, right] = [node.left as Node, node.right as Node];
  return `${text.slice(start, left.end)} ${operator} ${text.slice(right.start, end)}`;
}

function ofLogical(node: Node, text: string): Mutation[] {
  const { start, end, operator } = node;
  const [left, right] = [node.left as Node, node.right as Node];
  return [
    { start, end, replacement: text.slice(left.start, left.end), kind: `right of ${operator} removed` },
    { start, end, replacement: text.slice(right.start, right.end), kind: `left of ${operator} removed` },
  ];
}

function ofNumber(node: Node): Mutation[] {
  const { start, end, value } = node;
  if (typeof value !== 'number') return [];
  const changed = value < 2 ? [value + 1] : [value * 10, value / 10];
  return changed.map((number) => ({ start, end, replacement: `(${number})`, kind: `constant is ${number}` }));
}

/** A field of an object literal: an option, a filter, a field of a record or an answer. */
function ofObject(node: Node, text: string): Mutation[] {
  const properties = node.properties as Node[];
  return properties
    .filter(({ type }) => type === 'Property')
    .map(({ start, end, key }) => {
      const { start: keyStart, end: keyEnd } = key as Node;
      const comma = /^\s*,/.exec(text.slice(end))?.[0].length ?? 0;
      const name = text.slice(keyStart, keyEnd);
      return { start, end: end + comma, replacement: '', kind: `field ${name} removed` };
    });
}

function ofCall(node: Node, text: string): Mutation[] {
  const callee = node.callee as Node;
  const name = text.slice(callee.start, callee.end);
  const other = { 'Math.min': 'Math.max', 'Math.max': 'Math.min' }[name];
  return other
    ? [{ start: callee.start, end: callee.end, replacement: other, kind: `${other} for ${name}` }]
    : [];
}

function ofBinary(node: Node, text: string): Mutation[] {
  const { start, end } = node;
  return (SWAPPED[node.operator as string] ?? []).map((operator) => ({
    ...{ start, end, kind: `${operator} for ${node.operator}` },
    replacement: withOperator(node, operator, text),
  }));
}

function ofLiteral(node: Node): Mutation[] {
  const { start, end, value } = node;
  if (typeof value !== 'boolean') return ofNumber(node);
  return [{ start, end, replacement: String(!value), kind: `${!value} for ${value}` }];
}

function ofTry(node: Node): Mutation[] {
  const finalizer = node.finalizer as Node | null;
  if (!finalizer) return [];
  const { start, end } = finalizer;
  return [{ start, end, replacement: '{}', kind: 'finally block emptied' }];
}

/** The changes to a node, by its type. */
const MUTATIONS: Record<string, (node: Node, text: string) => Mutation[]> = {
  AwaitExpression: ({ start }) => [
    { start, end: start + 'await'.length, replacement: '', kind: 'await removed' },
  ],
  IfStatement: (node, text) => ofTest(node.test as Node, text),
  ConditionalExpression: (node, text) => ofTest(node.test as Node, text),
  ExpressionStatement: ofExpressionStatement,
  BinaryExpression: ofBinary,
  LogicalExpression: ofLogical,
  Literal: ofLiteral,
  ObjectExpression: ofObject,
  CallExpression: ofCall,
  TryStatement: ofTry,
};

/**
 * Every mutation of a compiled file: removed `await`, calls, assignments, conditions, fields and operands,
 * negated conditions, other operators, constants ten times as large, a tenth, or off by one.
 *
 * @param file name for messages
 * @throws Error when the text is not JavaScript
 */
export function mutationsOf(file: string, text: string): Mutation[] {
  const { program, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`);
  const found: Mutation[] = [];

  function visit(node: Node): void {
    const isUnobserved =
      node.type === 'ExpressionStatement' && UNOBSERVED_CALLS.test(text.slice(node.start, node.end));
    if (isUnobserved) return;
    found.push(...(MUTATIONS[node.type]?.(node, text) ?? []));
    for (const child of childrenOf(node)) visit(child);
  }

  visit(program as unknown as Node);
  return found;
}
