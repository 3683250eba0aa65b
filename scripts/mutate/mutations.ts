import { parseSync } from 'oxc-parser';

/** One careless change to a compiled file: the characters from `start` to `end` become `replacement`. */
export interface Mutation {
  start: number;
  end: number;
  replacement: string;
  /** What was changed, in a few words: `await removed`. */
  kind: string;
}

/** A node of the ESTree syntax tree, as far as it is looked at here. Offsets count UTF-16 code units. */
interface Node {
  type: string;
  start: number;
  end: number;
  [field: string]: unknown;
}

/** Calls that no promise of the service depends on: neither they nor their arguments are changed. */
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

/** Conditions: negated, and taken out either way. */
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

/** The operator between two operands; comments do not stand there in compiled code. */
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

/** A field of an object that is made: an option, a filter, a field of a record or an answer. */
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

function ofNode(node: Node, text: string): Mutation[] {
  const { start, end } = node;
  switch (node.type) {
    case 'AwaitExpression':
      return [{ start, end: start + 'await'.length, replacement: '', kind: 'await removed' }];
    case 'IfStatement':
    case 'ConditionalExpression':
      return ofTest(node.test as Node, text);
    case 'ExpressionStatement':
      return ofExpressionStatement(node);
    case 'BinaryExpression':
      return (SWAPPED[node.operator as string] ?? []).map((operator) => ({
        ...{ start, end, kind: `${operator} for ${node.operator}` },
        replacement: withOperator(node, operator, text),
      }));
    case 'LogicalExpression':
      return ofLogical(node, text);
    case 'Literal':
      if (typeof node.value === 'boolean')
        return [{ start, end, replacement: String(!node.value), kind: `${!node.value} for ${node.value}` }];
      return ofNumber(node);
    case 'ObjectExpression':
      return ofObject(node, text);
    case 'CallExpression':
      return ofCall(node, text);
    case 'TryStatement': {
      const finalizer = node.finalizer as Node | null;
      if (!finalizer) return [];
      return [
        { start: finalizer.start, end: finalizer.end, replacement: '{}', kind: 'finally block emptied' },
      ];
    }
    default:
      return [];
  }
}

/**
 * Every careless change to a compiled file that we know how to make: removed `await`, calls, assignments,
 * conditions, fields and operands, negated conditions, other operators, constants ten times as large, a
 * tenth, or off by one.
 *
 * @param file name for messages
 * @throws Error when the text is not JavaScript
 */
export function mutationsOf(file: string, text: string): Mutation[] {
  const { program, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`);
  const found: Mutation[] = [];

  function visit(node: Node): void {
    if (node.type === 'ExpressionStatement' && UNOBSERVED_CALLS.test(text.slice(node.start, node.end)))
      return;
    found.push(...ofNode(node, text));
    for (const child of Object.values(node)) {
      if (Array.isArray(child)) for (const one of child) isNode(one) && visit(one);
      else if (isNode(child)) visit(child);
    }
  }

  visit(program as unknown as Node);
  return found;
}
