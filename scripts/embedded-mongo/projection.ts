import { type Document, isDocument, isTruthy, numericValue, setOwn } from './bson-types.js';
import { badValue, CommandError, notServed } from './errors.js';
import { type FieldPath, parsePath, refuseDollarNames, valueAt } from './field-path.js';
import { type FilterNode, parseFilter } from './filter.js';
import { compileMatcher } from './matcher.js';
import { matchedPosition } from './positional.js';

/** Turns a found document into what the client asked for. */
export type Projector = (document: Document) => Document;

type Leaf = 'keep' | 'drop' | ((value: unknown, root: Document) => unknown);
type Tree = Map<string, Leaf | Tree>;

/** One entry of a projection, flattened. */
interface Entry {
  path: FieldPath;
  leaf: Leaf;
  /** Which kind of projection it makes; $slice leaves that open. */
  mode?: 'inclusion' | 'exclusion';
}

/**
 * Compiles a find projection: inclusion, exclusion, $slice, $elemMatch and the positional `$`. undefined for none.
 * Without a filter it is a $project stage, which has none of the operators. Throws 31253 and 31254 for mixed kinds,
 * 31249 for colliding paths, 31276 for a second `$`; expressions are refused by name.
 */
export function compileProjection(projection: unknown, filter?: FilterNode): Projector | undefined {
  if (projection === undefined || projection === null) return undefined;
  if (!isDocument(projection)) throw badValue('The projection must be an object');
  const entries = Object.keys(projection).flatMap((name) =>
    parseEntry(parsePath(name), projection[name], filter),
  );
  if (entries.length === 0) return undefined;
  if (Object.keys(projection).filter((name) => name.endsWith('.$')).length > 1)
    throw new CommandError(31276, 'Cannot specify more than one positional projection per query.');
  const deciding = entries.find((entry) => entry.mode && !isId(entry)) ?? entries.find((entry) => entry.mode);
  const mode = deciding?.mode ?? 'exclusion';
  const tree: Tree = new Map();
  for (const entry of entries) {
    if (entry.mode && entry.mode !== mode && !isId(entry))
      throw mode === 'inclusion'
        ? new CommandError(
            31254,
            `Cannot do exclusion on field ${entry.path.join('.')} in inclusion projection`,
          )
        : new CommandError(
            31253,
            `Cannot do inclusion on field ${entry.path.join('.')} in exclusion projection`,
          );
    addToTree(tree, entry);
  }
  if (mode === 'exclusion') return (document) => exclude(document, tree, document) as Document;
  if (!tree.has('_id')) tree.set('_id', 'keep');
  return (document) => include(document, tree, document) as Document;
}

function isId(entry: Entry): boolean {
  return entry.path.length === 1 && entry.path[0] === '_id';
}

function parseEntry(path: FieldPath, value: unknown, filter: FilterNode | undefined): Entry[] {
  const name = path.join('.');
  if (filter && path.at(-1) === '$') return [positional(path.slice(0, -1), filter)];
  refuseDollarNames(path);
  if (isDocument(value)) {
    const [operator] = Object.keys(value);
    if (operator === undefined)
      throw new CommandError(
        51270,
        `An empty sub-projection is not a valid value. Found empty object at path`,
      );
    if (filter && operator === '$slice') return [{ path, leaf: slicer(value.$slice) }];
    if (filter && operator === '$elemMatch') {
      if (path.length > 1)
        throw new CommandError(31275, 'Cannot use $elemMatch projection on a nested field');
      return [{ path, leaf: elementMatcher(value.$elemMatch), mode: 'inclusion' }];
    }
    if (operator.startsWith('$')) throw notServed(`the projection operator ${operator}`);
    return Object.keys(value).flatMap((key) => parseEntry([...path, ...parsePath(key)], value[key], filter));
  }
  if (typeof value !== 'boolean' && numericValue(value) === undefined)
    throw notServed(`a computed projection (field '${name}')`);
  return isTruthy(value)
    ? [{ path, leaf: 'keep', mode: 'inclusion' }]
    : [{ path, leaf: 'drop', mode: 'exclusion' }];
}

function positional(path: FieldPath, filter: FilterNode): Entry {
  const leaf: Leaf = (value, root) => {
    // mongod would then cut that array instead.
    if (valueAt(root, path) !== value) throw notServed(`'${path.join('.')}.$' through another array`);
    if (!Array.isArray(value)) return value;
    const position = matchedPosition(root, filter);
    if (position < 0 || position >= value.length)
      throw new CommandError(
        51246,
        "Executor error during find command :: caused by :: positional operator '.$' couldn't find a matching element in the array",
      );
    return [value[position]];
  };
  return { path, leaf, mode: 'inclusion' };
}

function slicer(operand: unknown): Leaf {
  const [skip, count] = (Array.isArray(operand) ? operand : [0, operand]).map((item) =>
    Number(numericValue(item)),
  );
  if (skip === undefined || count === undefined || !Number.isInteger(skip) || !Number.isInteger(count))
    throw new CommandError(28667, 'Invalid $slice syntax: expected a number or an array of two numbers');
  if (Array.isArray(operand) && (operand.length !== 2 || count <= 0))
    throw new CommandError(28724, 'Second argument to $slice must be a positive number');
  return (value) => {
    if (!Array.isArray(value)) return value;
    if (!Array.isArray(operand)) return count >= 0 ? value.slice(0, count) : value.slice(count);
    const start = skip < 0 ? Math.max(0, value.length + skip) : skip;
    return value.slice(start, start + count);
  };
}

function elementMatcher(condition: unknown): Leaf {
  const matches = compileMatcher(parseFilter({ element: { $elemMatch: condition } }));
  return (value) => {
    const found = Array.isArray(value) ? value.find((item) => matches({ element: [item] })) : undefined;
    return found === undefined ? undefined : [found];
  };
}

function addToTree(tree: Tree, entry: Entry): void {
  let level = tree;
  for (const [i, part] of entry.path.entries()) {
    const existing = level.get(part);
    const last = i === entry.path.length - 1;
    if (existing !== undefined && (last || !(existing instanceof Map)))
      throw new CommandError(31249, `Path collision at ${entry.path.join('.')}`);
    if (last) {
      level.set(part, entry.leaf);
    } else {
      const next = existing instanceof Map ? existing : new Map();
      level.set(part, next);
      level = next;
    }
  }
}

function include(value: unknown, tree: Tree, root: Document): unknown {
  // Elements that are no documents have none of the wanted fields.
  if (Array.isArray(value))
    return value
      .filter((item) => isDocument(item) || Array.isArray(item))
      .map((item) => include(item, tree, root));
  if (!isDocument(value)) return undefined;
  const kept: Document = {};
  for (const key of Object.keys(value)) {
    const node = tree.get(key);
    if (node === undefined || node === 'drop') continue;
    const item = value[key];
    const result =
      node === 'keep' ? item : node instanceof Map ? include(item, node, root) : node(item, root);
    if (result !== undefined) setOwn(kept, key, result);
  }
  return kept;
}

function exclude(value: unknown, tree: Tree, root: Document): unknown {
  if (Array.isArray(value)) return value.map((item) => exclude(item, tree, root));
  if (!isDocument(value)) return value;
  const kept: Document = {};
  for (const key of Object.keys(value)) {
    const node = tree.get(key);
    if (node === 'drop') continue;
    const item = value[key];
    const result =
      node === undefined || node === 'keep'
        ? item
        : node instanceof Map
          ? exclude(item, node, root)
          : node(item, root);
    if (result !== undefined) setOwn(kept, key, result);
  }
  return kept;
}
