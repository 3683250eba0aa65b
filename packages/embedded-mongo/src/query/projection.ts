import {
  type Document,
  isDocument,
  isNullish,
  isTruthy,
  numericValue,
  setOwn,
} from '../values/bson-types.js';
import { badValue, CommandError, notServed } from '../values/errors.js';
import { parsePath } from '../values/field-path.js';

/** Reduces a document to the requested fields. */
export type Projector = (document: Document) => Document;

/** The named fields, each with its nested ones, or with whether it is kept. */
type Tree = Map<string, boolean | Tree>;

/**
 * Compiles a projection by inclusion or exclusion; undefined for none. Throws 31253 and 31254 for mixed kinds, 31249
 * for colliding paths, NotImplemented (238) for operators and expressions.
 */
export function compileProjection(projection: unknown): Projector | undefined {
  if (isNullish(projection)) return undefined;
  if (!isDocument(projection)) throw badValue('The projection must be an object');
  const names = Object.keys(projection);
  if (names.length === 0) return undefined;
  const kept = new Map(names.map((name) => [name, isKept(name, projection[name])]));
  const includes = kept.get(names.find((name) => name !== '_id') ?? '_id') === true;
  const tree: Tree = new Map();
  for (const [name, keep] of kept) {
    if (keep !== includes && name !== '_id')
      throw includes
        ? new CommandError(31254, `Cannot do exclusion on field ${name} in inclusion projection`)
        : new CommandError(31253, `Cannot do inclusion on field ${name} in exclusion projection`);
    addPath(tree, name, keep);
  }
  if (includes && !tree.has('_id')) tree.set('_id', true);
  return (document) => project(document, tree, !includes) as Document;
}

function isKept(name: string, value: unknown): boolean {
  if (typeof value !== 'boolean' && numericValue(value) === undefined)
    throw notServed(`a computed projection (field '${name}')`);
  return isTruthy(value);
}

function addPath(tree: Tree, name: string, keep: boolean): void {
  const path = [...parsePath(name)];
  const last = path.pop() as string;
  let level = tree;
  for (const part of path) {
    const inner = level.get(part) ?? new Map();
    if (typeof inner === 'boolean') throw collision(name);
    level.set(part, inner);
    level = inner;
  }
  if (level.has(last)) throw collision(name);
  level.set(last, keep);
}

const collision = (name: string): CommandError => new CommandError(31249, `Path collision at ${name}`);

/** `others`: whether fields that are not named, and values without fields, are kept. */
function project(value: unknown, tree: Tree, others: boolean): unknown {
  if (Array.isArray(value))
    return value.map((item) => project(item, tree, others)).filter((item) => item !== undefined);
  if (!isDocument(value)) return others ? value : undefined;
  const result: Document = {};
  for (const key of Object.keys(value)) {
    const node = tree.get(key) ?? others;
    const kept = node instanceof Map ? project(value[key], node, others) : node ? value[key] : undefined;
    if (kept !== undefined) setOwn(result, key, kept);
  }
  return result;
}
