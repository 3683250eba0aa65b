import { Timestamp } from 'bson';
import { addNumbers, multiplyNumbers } from './arithmetic.js';
import { compareValues } from './bson-order.js';
import { type Document, isDocument, structuredCopy, TypeOrder, typeInfo, typeOrder } from './bson-types.js';
import { badValue, CommandError, typeMismatch } from './errors.js';
import type { FieldPath } from './field-path.js';
import { parseArrayModifier } from './update-array-operators.js';
import { type Modifier, writing } from './update-modifier.js';
import { readSlot, slotAt, writeSlot } from './update-paths.js';

/** Parses the operand of an operator for one field. Errors are mongod's: 2, 9, 14, each as noted there. */
export function parseModifier(operator: string, field: string, operand: unknown): Modifier {
  switch (operator) {
    case '$set':
    case '$setOnInsert':
      return writing(() => structuredCopy(operand));
    case '$unset':
      return { apply: unset };
    case '$inc':
    case '$mul':
      return arithmetic(operator, field, operand);
    case '$min':
      return writing((before) =>
        before === undefined || compareValues(operand, before) < 0 ? structuredCopy(operand) : before,
      );
    case '$max':
      return writing((before) =>
        before === undefined || compareValues(operand, before) > 0 ? structuredCopy(operand) : before,
      );
    case '$rename':
      return rename(field, operand);
    case '$currentDate':
      return currentDate(operand);
    default:
      return parseArrayModifier(operator, field, operand);
  }
}

function unset(document: Document, path: FieldPath): void {
  const slot = slotAt(document, path, false);
  if (!slot || readSlot(slot) === undefined) return;
  // "If the field is an array element, $unset replaces it with null" ($unset in the manual).
  if (Array.isArray(slot.container)) slot.container[Number(slot.key)] = null;
  else delete slot.container[slot.key];
}

function arithmetic(operator: string, field: string, operand: unknown): Modifier {
  const verb = operator === '$inc' ? 'increment' : 'multiply';
  if (typeOrder(operand) !== TypeOrder.number)
    throw typeMismatch(`Cannot ${verb} with non-numeric argument: {${field}: ${JSON.stringify(operand)}}`);
  return writing((before, path, document) => {
    if (before === undefined) return operator === '$inc' ? operand : multiplyNumbers(operand, 0);
    if (typeOrder(before) !== TypeOrder.number)
      throw typeMismatch(
        `Cannot apply ${operator} to a value of non-numeric type. {_id: ${String(document._id)}} has the field '${path.at(-1)}' of non-numeric type ${typeInfo(before).alias}`,
      );
    return operator === '$inc' ? addNumbers(before, operand) : multiplyNumbers(before, operand);
  });
}

function rename(field: string, operand: unknown): Modifier {
  if (typeof operand !== 'string') throw badValue(`The 'to' field for $rename must be a string: ${field}`);
  const target = operand.split('.');
  if (target.some((part) => part === ''))
    throw new CommandError(
      56,
      `The update path '${operand}' contains an empty field name, which is not allowed.`,
    );
  if (operand === field)
    throw badValue(`The source and target field for $rename must differ: ${field}: "${operand}"`);
  if ([...field.split('.'), ...target].some((part) => part.startsWith('$')))
    throw badValue(`The source and target of $rename may not be dynamic: '${field}'`);
  return {
    alsoWrites: target,
    apply(document, path) {
      refuseArrays(document, path, 'source');
      const from = slotAt(document, path, false);
      const value = from && readSlot(from);
      if (!from || value === undefined) return;
      refuseArrays(document, target, 'destination');
      delete (from.container as Document)[from.key];
      const to = slotAt(document, target, true);
      if (to) writeSlot(to, value);
    },
  };
}

function refuseArrays(document: Document, path: FieldPath, role: string): void {
  let value: unknown = document;
  for (const part of path) {
    if (Array.isArray(value))
      throw badValue(`The ${role} field cannot be an array element, '${path.join('.')}' in doc has an array`);
    value = isDocument(value) && Object.hasOwn(value, part) ? value[part] : undefined;
  }
}

function currentDate(operand: unknown): Modifier {
  let type = 'date';
  if (isDocument(operand)) {
    const { $type, ...rest } = operand;
    if (Object.keys(rest).length > 0 || ($type !== 'date' && $type !== 'timestamp'))
      throw badValue(
        "The '$type' string field is required to be 'date' or 'timestamp': {$currentDate: {field : {$type: 'date'}}}",
      );
    type = $type;
  } else if (typeof operand !== 'boolean') {
    throw badValue(
      `${typeInfo(operand).alias} is not valid type for $currentDate. Please use a boolean ('true') or a $type expression ({$type: 'timestamp/date'}).`,
    );
  }
  return writing(() =>
    type === 'date' ? new Date() : new Timestamp({ t: Math.floor(Date.now() / 1000), i: 1 }),
  );
}
