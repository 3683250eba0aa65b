import { BSONRegExp } from 'bson';
import { isFieldFilter, parseFilter } from '../query/filter.js';
import { compileMatcher, type Matcher } from '../query/matcher.js';
import { equalValues } from '../values/bson-order.js';
import { type Document, isDocument, numericValue, structuredCopy, typeInfo } from '../values/bson-types.js';
import { badValue, failedToParse, notServed, typeMismatch } from '../values/errors.js';
import { type Modifier, readSlot, slotAt, writeSlot, writing } from './paths.js';

function hasModifiers(operand: unknown): operand is Document {
  return (
    isDocument(operand) &&
    Object.keys(operand)[0]?.startsWith('$') === true &&
    Object.hasOwn(operand, '$each')
  );
}

function eachOf(operator: string, operand: unknown): unknown[] {
  if (!hasModifiers(operand)) {
    if (isDocument(operand) && Object.keys(operand)[0]?.startsWith('$'))
      throw badValue(`The dollar ($) prefixed field in ${operator} needs $each`);
    return [operand];
  }
  if (!Array.isArray(operand.$each))
    throw badValue(
      `The argument to $each in ${operator} must be an array but it was of type: ${typeInfo(operand.$each).alias}`,
    );
  return operand.$each;
}

export function push(operand: unknown): Modifier {
  const each = eachOf('$push', operand);
  const modifiers = hasModifiers(operand) ? operand : {};
  for (const key of Object.keys(modifiers)) {
    if (key === '$slice' || key === '$sort') throw notServed(`${key} of $push`);
    if (key !== '$each' && key !== '$position') throw badValue(`Unrecognized clause in $push: ${key}`);
  }
  const position = positionOf(modifiers);
  return writing((before, path) => {
    if (before !== undefined && !Array.isArray(before))
      throw badValue(
        `The field '${path.join('.')}' must be an array but is of type ${typeInfo(before).alias} in document`,
      );
    const array = [...(before ?? [])];
    array.splice(position ?? array.length, 0, ...each.map(structuredCopy));
    return array;
  });
}

function positionOf({ $position }: Document): number | undefined {
  if ($position === undefined) return undefined;
  const position = Number(numericValue($position));
  if (!Number.isInteger(position)) throw badValue('The value for $position must be an integer value');
  return position;
}

export function addToSet(operand: unknown): Modifier {
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

export function pop(operand: unknown, field: string): Modifier {
  const end = Number(numericValue(operand));
  if (numericValue(operand) === undefined)
    throw failedToParse(`Expected a number in: ${field}: ${String(operand)}`);
  if (end !== 1 && end !== -1) throw failedToParse(`$pop expects 1 or -1, found: ${end}`);
  return (document, path) => {
    const slot = slotAt(document, path, false);
    const value = slot && readSlot(slot);
    if (!slot || value === undefined) return;
    if (!Array.isArray(value))
      throw typeMismatch(
        `Path '${path.join('.')}' contains an element of non-array type '${typeInfo(value).alias}'`,
      );
    writeSlot(slot, end === 1 ? value.slice(0, -1) : value.slice(1));
  };
}

export function pull(operand: unknown): Modifier {
  return removing('$pull', pullCondition(operand));
}

export function pullAll(operand: unknown): Modifier {
  if (!Array.isArray(operand))
    throw badValue(`$pullAll requires an array argument but was given a ${typeInfo(operand).alias}`);
  return removing('$pullAll', (element) => operand.some((value) => equalValues(element, value)));
}

function removing(operator: string, matches: Matcher): Modifier {
  return (document, path) => {
    const slot = slotAt(document, path, false);
    const value = slot && readSlot(slot);
    if (!slot || value === undefined) return;
    if (!Array.isArray(value)) throw badValue(`Cannot apply ${operator} to a non-array value`);
    writeSlot(
      slot,
      value.filter((element) => !matches(element)),
    );
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
