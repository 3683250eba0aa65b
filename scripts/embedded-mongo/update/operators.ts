import { addNumbers } from '../values/arithmetic.js';
import { compareValues } from '../values/bson-order.js';
import { type Document, structuredCopy, TypeOrder, typeInfo, typeOrder } from '../values/bson-types.js';
import { typeMismatch } from '../values/errors.js';
import type { FieldPath } from '../values/field-path.js';
import { addToSet, pop, pull, pullAll, push } from './array-operators.js';
import { type Modifier, readSlot, slotAt, writing } from './paths.js';

/** Makes the modifier of a field from its operand. Errors are mongod's: 2, 9, 14. */
type ParseModifier = (operand: unknown, field: string) => Modifier;

const set: ParseModifier = (operand) => writing(() => structuredCopy(operand));

/** What is served; each has its probes in semantics-updates.test.ts. */
export const UPDATE_OPERATORS: ReadonlyMap<string, ParseModifier> = new Map<string, ParseModifier>([
  ['$set', set],
  ['$setOnInsert', set],
  ['$unset', () => unset],
  ['$inc', increment],
  ['$min', extreme((order) => order < 0)],
  ['$max', extreme((order) => order > 0)],
  ['$push', push],
  ['$addToSet', addToSet],
  ['$pop', pop],
  ['$pull', pull],
  ['$pullAll', pullAll],
]);

function unset(document: Document, path: FieldPath): void {
  const slot = slotAt(document, path, false);
  if (!slot || readSlot(slot) === undefined) return;
  // "If the field is an array element, $unset replaces it with null" ($unset in the manual).
  if (Array.isArray(slot.container)) slot.container[Number(slot.key)] = null;
  else delete slot.container[slot.key];
}

function increment(operand: unknown, field: string): Modifier {
  if (typeOrder(operand) !== TypeOrder.number)
    throw typeMismatch(`Cannot increment with non-numeric argument: {${field}: ${JSON.stringify(operand)}}`);
  return writing((before, path, document) => {
    if (before === undefined) return operand;
    if (typeOrder(before) !== TypeOrder.number)
      throw typeMismatch(
        `Cannot apply $inc to a value of non-numeric type. {_id: ${String(document._id)}} has the field '${path.at(-1)}' of non-numeric type ${typeInfo(before).alias}`,
      );
    return addNumbers(before, operand);
  });
}

function extreme(wins: (order: number) => boolean): ParseModifier {
  return (operand) =>
    writing((before) =>
      before === undefined || wins(compareValues(operand, before)) ? structuredCopy(operand) : before,
    );
}
