import { equalValues } from './bson-order.js';
import { type Document, isDocument, setOwn, structuredCopy } from './bson-types.js';
import { badValue, CommandError, failedToParse, notServed } from './errors.js';
import type { FieldPath } from './field-path.js';
import { parseFilter } from './filter.js';
import { compileMatcher, type Matcher } from './matcher.js';
import type { Modifier } from './update-modifier.js';
import { parseModifier } from './update-operators.js';
import { expandPath, type PositionalContext } from './update-paths.js';

/** One operator on one path. */
interface Change {
  path: FieldPath;
  operator: string;
  modifier: Modifier;
}

/** A parsed update: a whole new document, or changes. */
export type Update = { kind: 'replacement'; document: Document } | { kind: 'modifiers'; changes: Change[] };

const OPERATORS = [
  '$set',
  '$unset',
  '$inc',
  '$mul',
  '$min',
  '$max',
  '$rename',
  '$setOnInsert',
  '$currentDate',
  '$push',
  '$addToSet',
  '$pop',
  '$pull',
  '$pullAll',
];

/**
 * Parses an update as the update command takes it. Throws FailedToParse (9) for unknown modifiers,
 * ConflictingUpdateOperators (40) for two changes of one place, and BadValue (2) for bad operands.
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
    if (!OPERATORS.includes(operator)) {
      throw failedToParse(
        `Unknown modifier: ${operator}. Expected a valid update modifier or pipeline-style update specified as an array`,
      );
    }
    if (!isDocument(fields))
      throw failedToParse(
        `Modifiers operate on fields but we found type ${typeof fields} instead. For example: {$mod: {<field>: ...}}`,
      );
    for (const field of Object.keys(fields))
      changes.push({
        path: parseUpdatePath(field),
        operator,
        modifier: parseModifier(operator, field, fields[field]),
      });
  }
  refuseConflicts(changes);
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
  const dollar = path.find(
    (part) => part.startsWith('$') && !/^\$(\[\w*\])?$/.test(part) && !/^\$(ref|id|db)$/.test(part),
  );
  if (dollar)
    throw new CommandError(
      52,
      `The dollar ($) prefixed field '${dollar}' in '${field}' is not valid for storage.`,
    );
  if (path[0]?.startsWith('$'))
    throw badValue(`Cannot have positional (i.e. '$') element in the first position in path '${field}'`);
  return path;
}

function refuseConflicts(changes: readonly Change[]): void {
  const paths = changes.flatMap((change) => [
    change.path,
    ...(change.modifier.alsoWrites ? [change.modifier.alsoWrites] : []),
  ]);
  for (const [i, a] of paths.entries())
    for (const b of paths.slice(0, i)) {
      const shorter = a.length <= b.length ? a : b;
      if (shorter.every((part, at) => part === a[at] && part === b[at]))
        throw new CommandError(
          40,
          `Updating the path '${a.join('.')}' would create a conflict at '${shorter.join('.')}'`,
        );
    }
}

/** Parses arrayFilters into tests by identifier. Throws FailedToParse (9) as mongod. */
export function parseArrayFilters(filters: unknown): Map<string, Matcher> {
  const matchers = new Map<string, Matcher>();
  if (filters === undefined) return matchers;
  if (!Array.isArray(filters)) throw failedToParse('arrayFilters must be an array');
  for (const filter of filters) {
    if (!isDocument(filter)) throw failedToParse('array filters must be objects');
    const identifiers = new Set(identifiersOf(filter));
    const [identifier] = identifiers;
    if (identifier === undefined)
      throw failedToParse('Cannot use an expression without a top-level field name in arrayFilters');
    if (identifiers.size > 1)
      throw failedToParse(
        `Error parsing array filter :: caused by :: Expected a single top-level field name, found ${[...identifiers].join(' and ')}`,
      );
    if (!/^[a-z][a-zA-Z0-9]*$/.test(identifier))
      throw badValue(
        `Error parsing array filter :: caused by :: The top-level field name must be an alphanumeric string beginning with a lowercase letter, found '${identifier}'`,
      );
    if (matchers.has(identifier))
      throw failedToParse(`Found multiple array filters with the same top-level field name ${identifier}`);
    const matches = compileMatcher(parseFilter(filter));
    // The element stands under its identifier, so that `x.y` and `x` both mean what they say.
    matchers.set(identifier, (element) => matches({ [identifier]: element }));
  }
  return matchers;
}

function identifiersOf(filter: Document): string[] {
  return Object.keys(filter).flatMap((key) => {
    const value = filter[key];
    if (key.startsWith('$') && Array.isArray(value)) return value.filter(isDocument).flatMap(identifiersOf);
    return key.startsWith('$') ? [] : [key.split('.')[0] as string];
  });
}

/**
 * Applies an update to a document, in place for modifiers, and returns the new document.
 * Throws ImmutableField (66) when _id would change, and the operators' own errors; the caller must then drop the
 * document, which may be half changed.
 */
export function applyUpdate(update: Update, document: Document, context: PositionalContext): Document {
  const id = document._id;
  const after =
    update.kind === 'replacement'
      ? replace(update.document, document)
      : modify(update.changes, document, context);
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

function modify(changes: readonly Change[], document: Document, context: PositionalContext): Document {
  // mongod applies the fields of an update in lexicographic order; new fields are appended in that order.
  const ordered = [...changes].sort((a, b) => comparePaths(a.path, b.path));
  for (const { path, operator, modifier } of ordered) {
    if (operator === '$setOnInsert' && !context.isInsert) continue;
    for (const concrete of expandPath(document, path, context, operator)) modifier.apply(document, concrete);
  }
  return document;
}

function comparePaths(a: FieldPath, b: FieldPath): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const [x, y] = [a[i] as string, b[i] as string];
    if (x === y) continue;
    // "Fields with numeric names are processed in numeric order" (update operator behaviour since 5.0).
    if (/^\d+$/.test(x) && /^\d+$/.test(y)) return Number(x) - Number(y);
    return x < y ? -1 : 1;
  }
  return a.length - b.length;
}
