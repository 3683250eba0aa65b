import { parseFilter } from '../query/filter.js';
import { compileMatcher, type Matcher } from '../query/matcher.js';
import {
  type Document,
  isDocument,
  isOperatorDocument,
  numericValue,
  Sum,
  typeName,
} from '../values/bson-types.js';
import { compareValues, equalValues } from '../values/compare.js';
import { badValue, failedToParse, notServed, typeMismatch } from '../values/errors.js';
import type { FieldPath } from '../values/field-path.js';
import { readSlot, slotAt, writeSlot } from './paths.js';

/** Applies an operator with its operand at a path of a document. */
export type Modifier = (document: Document, path: FieldPath) => void;

/** Creates the modifier of a field from its operand. Errors are mongod's: 2, 9, 14. */
type ParseModifier = (operand: unknown, field: string) => Modifier;

/** The supported operators; each has its probes in semantics-updates.test.ts. */
export const UPDATE_OPERATORS: ReadonlyMap<string, ParseModifier> = new Map<string, ParseModifier>([
  ['$set', (operand) => writing(() => operand)],
  ['$setOnInsert', (operand) => writing(() => operand)],
  ['$unset', () => unset],
  ['$inc', increment],
  ['$min', (operand) => writing((before) => (isBelow(operand, before) ? operand : before))],
  ['$max', (operand) => writing((before) => (isBelow(before, operand) ? operand : before))],
  ['$push', push],
  ['$addToSet', addToSet],
  ['$pop', pop],
  ['$pull', pull],
  ['$pullAll', pullAll],
]);

/** A modifier that writes a function of the present value (undefined: none). */
function writing(next: (before: unknown, path: FieldPath) => unknown): Modifier {
  return (document, path) => {
    const slot = slotAt(document, path, true);
    writeSlot(slot, next(readSlot(slot), path));
  };
}

function unset(document: Document, path: FieldPath): void {
  const slot = slotAt(document, path, false);
  if (!slot || readSlot(slot) === undefined) return;
  // "If the field is an array element, $unset replaces it with null" ($unset in the manual).
  if (Array.isArray(slot.container)) writeSlot(slot, null);
  else delete slot.container[slot.key];
}

/** Whether one value is below the other in BSON order, or either is missing. */
const isBelow = (a: unknown, b: unknown) => a === undefined || b === undefined || compareValues(a, b) < 0;

function increment(operand: unknown, field: string): Modifier {
  if (numericValue(operand) === undefined)
    throw typeMismatch(`Cannot increment '${field}' by a value of type ${typeName(operand)}`);
  return writing((before, path) => {
    if (before === undefined) return operand;
    if (numericValue(before) === undefined)
      throw typeMismatch(`Cannot apply $inc to '${path.at(-1)}' of type ${typeName(before)}`);
    return new Sum().add(before).add(operand).result();
  });
}

/** The values that $push or $addToSet adds. */
function eachOf(operator: string, operand: unknown): unknown[] {
  if (!isOperatorDocument(operand)) return [operand];
  if (!Array.isArray(operand.$each)) throw badValue(`The argument to $each in ${operator} must be an array`);
  return operand.$each;
}

function arrayAt(before: unknown, operator: string, path: FieldPath): unknown[] {
  if (before === undefined) return [];
  if (!Array.isArray(before))
    throw badValue(`Cannot apply ${operator} to the field '${path.join('.')}' of type ${typeName(before)}`);
  return [...before];
}

function push(operand: unknown): Modifier {
  const each = eachOf('$push', operand);
  const { $each, $position, ...others } = isOperatorDocument(operand) ? operand : {};
  const [other] = Object.keys(others);
  if (other !== undefined) throw notServed(`${other} of $push`);
  const position = $position === undefined ? Number.POSITIVE_INFINITY : numericValue($position);
  if ($position !== undefined && !Number.isInteger(position))
    throw badValue('The value for $position must be an integer value');
  return writing((before, path) => {
    const array = arrayAt(before, '$push', path);
    array.splice(position as number, 0, ...each);
    return array;
  });
}

function addToSet(operand: unknown): Modifier {
  const each = eachOf('$addToSet', operand);
  return writing((before, path) => {
    const array = arrayAt(before, '$addToSet', path);
    for (const value of each) if (!array.some((element) => equalValues(element, value))) array.push(value);
    return array;
  });
}

/** A modifier of an existing array; a missing field stays missing. */
function shortening(operator: string, shorten: (array: unknown[]) => unknown[]): Modifier {
  return (document, path) => {
    const slot = slotAt(document, path, false);
    const before = slot && readSlot(slot);
    if (slot && before !== undefined) writeSlot(slot, shorten(arrayAt(before, operator, path)));
  };
}

function pop(operand: unknown): Modifier {
  const end = numericValue(operand);
  if (end !== 1 && end !== -1) throw failedToParse(`$pop expects 1 or -1, found: ${end}`);
  return shortening('$pop', (array) => (end === 1 ? array.slice(0, -1) : array.slice(1)));
}

function pull(operand: unknown): Modifier {
  const matches = pullCondition(operand);
  return shortening('$pull', (array) => array.filter((element) => !matches(element)));
}

function pullAll(operand: unknown): Modifier {
  if (!Array.isArray(operand)) throw badValue('$pullAll requires an array argument');
  return shortening('$pullAll', (array) =>
    array.filter((element) => !operand.some((value) => equalValues(element, value))),
  );
}

/** The operand of $pull: a condition on the element, a filter on embedded documents, or a value to equal. */
function pullCondition(operand: unknown): Matcher {
  if (isOperatorDocument(operand)) {
    const matches = compileMatcher(parseFilter({ element: operand }));
    return (element) => matches({ element });
  }
  if (!isDocument(operand)) return (element) => equalValues(element, operand);
  const matches = compileMatcher(parseFilter(operand));
  return (element) => isDocument(element) && matches(element);
}
