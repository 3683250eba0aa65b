import { BSONRegExp } from 'bson';
import { compareValues, equalValues } from './bson-order.js';
import { type Document, isDocument, numericValue, structuredCopy, typeInfo } from './bson-types.js';
import { badValue, failedToParse, typeMismatch } from './errors.js';
import { isFieldFilter, parseFilter } from './filter.js';
import { compileMatcher, type Matcher } from './matcher.js';
import { parseSort, sortKey } from './sort.js';
import { type Modifier, writing } from './update-modifier.js';
import { readSlot, slotAt, writeSlot } from './update-paths.js';

/** $push, $addToSet, $pop, $pull and $pullAll; `operator` is one of these. */
export function parseArrayModifier(operator: string, field: string, operand: unknown): Modifier {
  switch (operator) {
    case '$push':
      return push(operand);
    case '$addToSet':
      return addToSet(operand);
    case '$pop':
      return pop(field, operand);
    case '$pullAll':
      if (!Array.isArray(operand))
        throw badValue(`$pullAll requires an array argument but was given a ${typeInfo(operand).alias}`);
      return pull(operator, (element) => operand.some((value) => equalValues(element, value)));
    default:
      return pull(operator, pullCondition(operand));
  }
}

function hasModifiers(operand: unknown): operand is Document {
  return (
    isDocument(operand) &&
    Object.keys(operand)[0]?.startsWith('$') === true &&
    Object.hasOwn(operand, '$each')
  );
}

function eachOf(operator: string, operand: unknown): unknown[] {
  if (!hasModifiers(operand)) {
    if (isDocument(operand) && Object.keys(operand)[0]?.startsWith('$') && !('$ref' in operand))
      throw badValue(`The dollar ($) prefixed field in ${operator} needs $each`);
    return [operand];
  }
  if (!Array.isArray(operand.$each))
    throw badValue(
      `The argument to $each in ${operator} must be an array but it was of type: ${typeInfo(operand.$each).alias}`,
    );
  return operand.$each;
}

function push(operand: unknown): Modifier {
  const each = eachOf('$push', operand);
  const modifiers = hasModifiers(operand) ? operand : {};
  for (const key of Object.keys(modifiers))
    if (!['$each', '$position', '$slice', '$sort'].includes(key))
      throw badValue(`Unrecognized clause in $push: ${key}`);
  const position = integerClause(modifiers, '$position');
  const slice = integerClause(modifiers, '$slice');
  const order = modifiers.$sort === undefined ? undefined : elementOrder(modifiers.$sort);
  return writing((before, path) => {
    if (before !== undefined && !Array.isArray(before))
      throw badValue(
        `The field '${path.join('.')}' must be an array but is of type ${typeInfo(before).alias} in document`,
      );
    const array = [...(before ?? [])];
    array.splice(position ?? array.length, 0, ...each.map(structuredCopy));
    if (order) array.sort(order);
    if (slice === undefined) return array;
    return slice >= 0 ? array.slice(0, slice) : array.slice(slice);
  });
}

function integerClause(modifiers: Document, name: string): number | undefined {
  if (modifiers[name] === undefined) return undefined;
  const number = Number(numericValue(modifiers[name]));
  if (!Number.isInteger(number)) throw badValue(`The value for ${name} must be an integer value`);
  return number;
}

/** $sort of $push: 1 or -1 for whole elements, or a sort specification for embedded documents. */
function elementOrder(spec: unknown): (a: unknown, b: unknown) => number {
  if (!isDocument(spec)) {
    const direction = Number(numericValue(spec));
    if (direction !== 1 && direction !== -1) throw badValue('The $sort element value must be either 1 or -1');
    return (a, b) => direction * compareValues(a, b);
  }
  const sort = parseSort(spec);
  if (sort.length === 0) throw badValue('The $sort pattern is empty when it should be a set of fields.');
  const key = (value: unknown) => sortKey(sort, isDocument(value) ? value : {});
  return (a, b) => Buffer.compare(key(a), key(b));
}

function addToSet(operand: unknown): Modifier {
  const each = eachOf('$addToSet', operand);
  return writing((before, path) => {
    if (before !== undefined && !Array.isArray(before))
      throw badValue(
        `Cannot apply $addToSet to non-array field. Field named '${path.at(-1)}' has non-array type ${typeInfo(before).alias}`,
      );
    const array = [...(before ?? [])];
    for (const value of each)
      if (!array.some((element) => equalValues(element, value))) array.push(structuredCopy(value));
    return array;
  });
}

function pop(field: string, operand: unknown): Modifier {
  const end = Number(numericValue(operand));
  if (numericValue(operand) === undefined)
    throw failedToParse(`Expected a number in: ${field}: ${String(operand)}`);
  if (end !== 1 && end !== -1) throw failedToParse(`$pop expects 1 or -1, found: ${end}`);
  return {
    apply(document, path) {
      const slot = slotAt(document, path, false);
      const value = slot && readSlot(slot);
      if (!slot || value === undefined) return;
      if (!Array.isArray(value))
        throw typeMismatch(
          `Path '${path.join('.')}' contains an element of non-array type '${typeInfo(value).alias}'`,
        );
      writeSlot(slot, end === 1 ? value.slice(0, -1) : value.slice(1));
    },
  };
}

function pull(operator: string, matches: Matcher): Modifier {
  return {
    apply(document, path) {
      const slot = slotAt(document, path, false);
      const value = slot && readSlot(slot);
      if (!slot || value === undefined) return;
      if (!Array.isArray(value)) throw badValue(`Cannot apply ${operator} to a non-array value`);
      writeSlot(
        slot,
        value.filter((element) => !matches(element)),
      );
    },
  };
}

/** $pull takes a condition on the element, a filter on the fields of embedded documents, or a value to equal. */
function pullCondition(operand: unknown): Matcher {
  if (operand instanceof BSONRegExp || (isDocument(operand) && !isFieldFilter(operand))) {
    const matches = compileMatcher(parseFilter({ element: operand }, true));
    return (element) => matches({ element });
  }
  if (isDocument(operand)) {
    const matches = compileMatcher(parseFilter(operand, true));
    return (element) => isDocument(element) && matches(element);
  }
  return (element) => equalValues(element, operand);
}
