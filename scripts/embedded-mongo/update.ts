import { equalValues } from './bson-order.js';
import { type Document, isDocument, setOwn, structuredCopy } from './bson-types.js';
import { badValue, CommandError, failedToParse, notServed, typeMismatch } from './errors.js';
import { DBREF_FIELDS, type FieldPath } from './field-path.js';
import { parseFilter } from './filter.js';
import { compileMatcher, type Matcher } from './matcher.js';
import type { Modifier } from './update-modifier.js';
import { parseModifier } from './update-operators.js';
import { expandPath, isPositional, type PositionalContext } from './update-paths.js';

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
  refuseMixedPositions(changes.map((change) => change.path));
  refuseConflicts(changes.flatMap(pathsOf));
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
    (part) => part.startsWith('$') && !isPositional(part) && !DBREF_FIELDS.includes(part),
  );
  if (dollar)
    throw new CommandError(
      52,
      `The dollar ($) prefixed field '${dollar}' in '${field}' is not valid for storage.`,
    );
  if (path[0]?.startsWith('$'))
    throw badValue(`Cannot have positional (i.e. '$') element in the first position in path '${field}'`);
  if (path.filter((part) => part === '$').length > 1)
    throw badValue(`Too many positional (i.e. '$') elements found in path '${field}'`);
  return path;
}

/** The paths a change writes. */
function pathsOf({ path, modifier }: Change): FieldPath[] {
  return modifier.alsoWrites ? [path, modifier.alsoWrites] : [path];
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

/** Throws ConflictingUpdateOperators (40) where one array is changed by `$[...]` and by positions or names. */
function refuseMixedPositions(paths: readonly FieldPath[]): void {
  const filtered = new Map<string, boolean>();
  for (const path of paths)
    for (const [i, part] of path.entries()) {
      const place = path.slice(0, i).join('.');
      const here = part.startsWith('$[');
      if ((filtered.get(place) ?? here) !== here) throw conflict(path, place);
      filtered.set(place, here);
    }
}

function conflict(path: FieldPath, place: string): CommandError {
  return new CommandError(40, `Updating the path '${path.join('.')}' would create a conflict at '${place}'`);
}

/**
 * Parses arrayFilters into tests by identifier. Throws FailedToParse (9) or TypeMismatch (14) as mongod, also for a
 * filter that the update does not use, and BadValue (2) for an identifier that has none.
 */
export function parseArrayFilters(filters: unknown, update: Update): Map<string, Matcher> {
  const matchers = new Map<string, Matcher>();
  if (filters !== undefined && !Array.isArray(filters)) throw typeMismatch('arrayFilters must be an array');
  for (const filter of filters ?? []) {
    if (!isDocument(filter)) throw typeMismatch('array filters must be objects');
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
    const matches = compileMatcher(parseFilter(filter, true));
    // The element stands under its identifier, so that `x.y` and `x` both mean what they say.
    matchers.set(identifier, (element) => matches({ [identifier]: element }));
  }
  const used = usedIdentifiers(update);
  for (const [identifier, path] of used)
    if (!matchers.has(identifier))
      throw badValue(`No array filter found for identifier '${identifier}' in path '${path.join('.')}'`);
  for (const identifier of matchers.keys())
    if (!used.has(identifier))
      throw failedToParse(`The array filter for identifier '${identifier}' was not used in the update`);
  return matchers;
}

/** The identifiers of `$[identifier]` in an update, each with a path it stands in. */
function usedIdentifiers(update: Update): Map<string, FieldPath> {
  const used = new Map<string, FieldPath>();
  for (const { path } of update.kind === 'modifiers' ? update.changes : [])
    for (const part of path) if (/^\$\[./.test(part) && part !== '$[]') used.set(part.slice(2, -1), path);
  return used;
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
  const concrete = changes
    .filter(({ operator }) => operator !== '$setOnInsert' || context.isInsert)
    .flatMap((change) => expandPath(document, change.path, context).map((path) => ({ ...change, path })));
  // Two paths may mean one place in this document.
  if (changes.some(({ path }) => path.some(isPositional))) refuseConflicts(concrete.flatMap(pathsOf));
  // mongod applies the fields of an update in lexicographic order; new fields are appended in that order.
  concrete.sort((a, b) => comparePaths(a.path, b.path));
  for (const { path, modifier } of concrete) modifier.apply(document, path);
  return document;
}

/** Numeric names need no order of their own: an object holds them in numeric order whatever comes first. */
function comparePaths(a: FieldPath, b: FieldPath): number {
  const at = a.findIndex((part, i) => part !== b[i]);
  const [x, y] = [a[at] ?? '', b[at] ?? ''];
  return x < y ? -1 : Number(x > y);
}
