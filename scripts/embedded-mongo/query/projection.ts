import { type Document, isDocument, isTruthy, numericValue, setOwn } from '../values/bson-types.js';
import { badValue, CommandError, notServed } from '../values/errors.js';
import { type FieldPath, parsePath, refuseDollarNames } from '../values/field-path.js';

/** Turns a found document into what the client asked for. */
export type Projector = (document: Document) => Document;

type Leaf = 'keep' | 'drop';
type Tree = Map<string, Leaf | Tree>;

/** One entry of a projection, flattened. */
interface Entry {
  path: FieldPath;
  leaf: Leaf;
}

/**
 * Compiles a projection by inclusion or exclusion; undefined for none. Throws 31253 and 31254 for mixed kinds, 31249
 * for colliding paths; operators and expressions are refused by name.
 */
export function compileProjection(projection: unknown): Projector | undefined {
  if (projection === undefined || projection === null) return undefined;
  if (!isDocument(projection)) throw badValue('The projection must be an object');
  const entries = Object.keys(projection).flatMap((name) => parseEntry(parsePath(name), projection[name]));
  if (entries.length === 0) return undefined;
  const { leaf: mode } = entries.find((entry) => !isId(entry)) ?? (entries[0] as Entry);
  const tree: Tree = new Map();
  for (const entry of entries) {
    if (entry.leaf !== mode && !isId(entry))
      throw mode === 'keep'
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
  if (mode === 'drop') return (document) => exclude(document, tree) as Document;
  if (!tree.has('_id')) tree.set('_id', 'keep');
  return (document) => include(document, tree) as Document;
}

function isId(entry: Entry): boolean {
  return entry.path.length === 1 && entry.path[0] === '_id';
}

function parseEntry(path: FieldPath, value: unknown): Entry[] {
  const name = path.join('.');
  refuseDollarNames(path);
  if (isDocument(value)) {
    const [operator] = Object.keys(value);
    if (operator === undefined)
      throw new CommandError(
        51270,
        `An empty sub-projection is not a valid value. Found empty object at path`,
      );
    if (operator.startsWith('$')) throw notServed(`the projection operator ${operator}`);
    return Object.keys(value).flatMap((key) => parseEntry([...path, ...parsePath(key)], value[key]));
  }
  if (typeof value !== 'boolean' && numericValue(value) === undefined)
    throw notServed(`a computed projection (field '${name}')`);
  return [{ path, leaf: isTruthy(value) ? 'keep' : 'drop' }];
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

function include(value: unknown, tree: Tree): unknown {
  // Elements that are no documents have none of the wanted fields.
  if (Array.isArray(value))
    return value.filter((item) => isDocument(item) || Array.isArray(item)).map((item) => include(item, tree));
  if (!isDocument(value)) return undefined;
  const kept: Document = {};
  for (const key of Object.keys(value)) {
    const node = tree.get(key);
    if (node === undefined || node === 'drop') continue;
    const result = node === 'keep' ? value[key] : include(value[key], node);
    if (result !== undefined) setOwn(kept, key, result);
  }
  return kept;
}

function exclude(value: unknown, tree: Tree): unknown {
  if (Array.isArray(value)) return value.map((item) => exclude(item, tree));
  if (!isDocument(value)) return value;
  const kept: Document = {};
  for (const key of Object.keys(value)) {
    const node = tree.get(key);
    if (node === 'drop') continue;
    setOwn(kept, key, node instanceof Map ? exclude(value[key], node) : value[key]);
  }
  return kept;
}
