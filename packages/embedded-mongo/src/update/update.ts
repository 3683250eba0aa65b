import { type Document, isDocument, isOperatorDocument } from '../values/bson-types.js';
import { equalValues } from '../values/compare.js';
import { CommandError, failedToParse, notServed } from '../values/errors.js';
import type { FieldPath } from '../values/field-path.js';
import { type Modifier, UPDATE_OPERATORS } from './operators.js';

/** One operator on one path. */
interface Change {
  path: FieldPath;
  operator: string;
  modifier: Modifier;
}

/** A parsed update: a whole new document, or changes. */
export type Update = { kind: 'replacement'; document: Document } | { kind: 'modifiers'; changes: Change[] };

/**
 * Parses an update of the update command. Throws FailedToParse (9), ConflictingUpdateOperators (40) for two
 * changes at one path, NotImplemented (238) for other operators, and the operators' own errors.
 */
export function parseUpdate(update: unknown): Update {
  if (Array.isArray(update)) throw notServed('an update by aggregation pipeline');
  if (!isDocument(update)) throw failedToParse('Update argument must be either an object or an array');
  if (!isOperatorDocument(update)) {
    const operator = Object.keys(update).find((key) => key.startsWith('$'));
    if (operator) throw dollarName(operator, operator);
    return { kind: 'replacement', document: update };
  }
  const changes = Object.keys(update).flatMap((operator) => {
    const parse = UPDATE_OPERATORS.get(operator);
    if (!parse) throw notServed(`the update operator ${operator}`);
    const fields = update[operator];
    if (!isDocument(fields)) throw failedToParse(`Modifiers operate on fields, and ${operator} names none`);
    return Object.keys(fields).map((field) => ({
      path: parseUpdatePath(field),
      operator,
      modifier: parse(fields[field], field),
    }));
  });
  // mongod applies the fields of an update in lexicographic order; new fields are appended in that order.
  changes.sort((a, b) => comparePaths(a.path, b.path));
  refuseConflicts(changes);
  return { kind: 'modifiers', changes };
}

function parseUpdatePath(field: string): FieldPath {
  const path = field.split('.');
  if (path.includes(''))
    throw new CommandError(56, `The update path '${field}' contains an empty field name`);
  const dollar = path.find((part) => part.startsWith('$'));
  if (dollar === '$' || dollar?.startsWith('$[')) throw notServed(`the positional operator in '${field}'`);
  if (dollar) throw dollarName(dollar, field);
  return path;
}

const dollarName = (name: string, field: string) =>
  new CommandError(52, `The dollar ($) prefixed field '${name}' in '${field}' is not valid for storage`);

/** By the first part that differs; a path comes before those inside it. */
function comparePaths(a: FieldPath, b: FieldPath): number {
  const at = a.findIndex((part, i) => part !== b[i]);
  return at < 0 || (a[at] as string) < (b[at] ?? '') ? -1 : 1;
}

/** Throws ConflictingUpdateOperators (40) if one path equals another, or lies within it. */
function refuseConflicts(changes: readonly Change[]): void {
  const written = new Set<string>();
  for (const { path } of changes) {
    const name = path.join('.');
    const inside = path.map((_, i) => path.slice(0, i + 1).join('.'));
    const place = inside.find((prefix) => written.has(prefix));
    if (place !== undefined)
      throw new CommandError(40, `Updating the path '${name}' would create a conflict at '${place}'`);
    written.add(name);
  }
}

/**
 * Applies an update to a document, in place for modifiers, and returns the new document. Throws
 * ImmutableField (66) if _id would change, and the operators' own errors; the caller must then drop the
 * document, which may be partly changed.
 */
export function applyUpdate(update: Update, document: Document, isInsert: boolean): Document {
  const id = document._id;
  let after = document;
  if (update.kind === 'replacement')
    after = id === undefined ? { ...update.document } : { _id: id, ...update.document };
  else
    for (const { path, operator, modifier } of update.changes)
      if (operator !== '$setOnInsert' || isInsert) modifier(document, path);
  if (id !== undefined && !equalValues(after._id, id))
    throw new CommandError(66, "The update would modify the immutable field '_id'");
  return after;
}
