import { equalValues } from '../values/bson-order.js';
import { type Document, isDocument, setOwn, structuredCopy } from '../values/bson-types.js';
import { CommandError, failedToParse, notServed } from '../values/errors.js';
import type { FieldPath } from '../values/field-path.js';
import { UPDATE_OPERATORS } from './operators.js';
import type { Modifier } from './paths.js';

/** One operator on one path. */
interface Change {
  path: FieldPath;
  operator: string;
  modifier: Modifier;
}

/** A parsed update: a whole new document, or changes. */
export type Update = { kind: 'replacement'; document: Document } | { kind: 'modifiers'; changes: Change[] };

const NOT_SERVED = ['$mul', '$rename', '$currentDate', '$bit'];

/**
 * Parses an update as the update command takes it. Throws FailedToParse (9) for unknown modifiers,
 * ConflictingUpdateOperators (40) for two changes of one place, and 2, 9 or 14 for bad operands.
 */
export function parseUpdate(update: unknown): Update {
  if (Array.isArray(update)) throw notServed('an update by aggregation pipeline');
  if (!isDocument(update)) throw failedToParse('Update argument must be either an object or an array');
  const operators = Object.keys(update);
  if (!operators[0]?.startsWith('$')) {
    const operator = operators.find((key) => key.startsWith('$'));
    if (operator)
      throw new CommandError(
        52,
        `The dollar ($) prefixed field '${operator}' in '${operator}' is not allowed in the context of an update's replacement document. Consider using an aggregation pipeline with $replaceWith.`,
      );
    return { kind: 'replacement', document: update };
  }
  const changes: Change[] = [];
  for (const operator of operators) {
    const fields = update[operator];
    if (NOT_SERVED.includes(operator)) throw notServed(`the update operator ${operator}`);
    const parse = UPDATE_OPERATORS.get(operator);
    if (!parse)
      throw failedToParse(
        `Unknown modifier: ${operator}. Expected a valid update modifier or pipeline-style update specified as an array`,
      );
    if (!isDocument(fields))
      throw failedToParse(
        `Modifiers operate on fields but we found type ${typeof fields} instead. For example: {$mod: {<field>: ...}}`,
      );
    for (const field of Object.keys(fields))
      changes.push({
        path: parseUpdatePath(field),
        operator,
        modifier: parse(fields[field], field),
      });
  }
  refuseConflicts(changes.map(({ path }) => path));
  return { kind: 'modifiers', changes };
}

function parseUpdatePath(field: string): FieldPath {
  const path = field.split('.');
  if (field === '') throw new CommandError(56, 'An empty update path is not valid.');
  if (path.some((part) => part === ''))
    throw new CommandError(
      56,
      `The update path '${field}' contains an empty field name, which is not allowed.`,
    );
  if (path.some((part) => /^\$(\[|$)/.test(part))) throw notServed(`the positional operator in '${field}'`);
  const dollar = path.find((part) => part.startsWith('$'));
  if (dollar)
    throw new CommandError(
      52,
      `The dollar ($) prefixed field '${dollar}' in '${field}' is not valid for storage.`,
    );
  return path;
}

/** Throws ConflictingUpdateOperators (40) where one path is another, or lies within it. */
function refuseConflicts(paths: readonly FieldPath[]): void {
  const written = new Set<string>();
  const entered = new Set<string>();
  for (const path of paths) {
    const whole = path.join('.');
    const inside = path.map((_, i) => path.slice(0, i + 1).join('.'));
    const place = entered.has(whole) ? whole : inside.find((prefix) => written.has(prefix));
    if (place !== undefined) throw conflict(path, place);
    written.add(whole);
    for (const prefix of inside) entered.add(prefix);
  }
}

function conflict(path: FieldPath, place: string): CommandError {
  return new CommandError(40, `Updating the path '${path.join('.')}' would create a conflict at '${place}'`);
}

/**
 * Applies an update to a document, in place for modifiers, and returns the new document.
 * Throws ImmutableField (66) when _id would change, and the operators' own errors; the caller must then drop the
 * document, which may be half changed.
 */
export function applyUpdate(update: Update, document: Document, isInsert: boolean): Document {
  const id = document._id;
  const after =
    update.kind === 'replacement'
      ? replace(update.document, document)
      : modify(update.changes, document, isInsert);
  if (id !== undefined && !equalValues(after._id, id))
    throw new CommandError(
      66,
      "Performing an update on the path '_id' would modify the immutable field '_id'",
    );
  return after;
}

function replace(replacement: Document, before: Document): Document {
  const after: Document = {};
  if (Object.hasOwn(before, '_id')) after._id = before._id;
  for (const key of Object.keys(replacement)) {
    if (key === '_id' && Object.hasOwn(after, '_id') && !equalValues(replacement._id, after._id))
      throw new CommandError(
        66,
        "After applying the update, the (immutable) field '_id' was found to have been altered",
      );
    setOwn(after, key, structuredCopy(replacement[key]));
  }
  return after;
}

function modify(changes: readonly Change[], document: Document, isInsert: boolean): Document {
  // mongod applies the fields of an update in lexicographic order; new fields are appended in that order.
  const ordered = changes
    .filter(({ operator }) => operator !== '$setOnInsert' || isInsert)
    .sort((a, b) => comparePaths(a.path, b.path));
  for (const { path, modifier } of ordered) modifier(document, path);
  return document;
}

/** Numeric names need no order of their own: an object holds them in numeric order whatever comes first. */
function comparePaths(a: FieldPath, b: FieldPath): number {
  const at = a.findIndex((part, i) => part !== b[i]);
  const [x, y] = [a[at] ?? '', b[at] ?? ''];
  return x < y ? -1 : Number(x > y);
}
