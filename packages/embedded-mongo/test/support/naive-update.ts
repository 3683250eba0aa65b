import { compare, type Doc, matches, type Value } from './naive-model.js';

/** The update operators of the manual, once more and apart: on a copy, one field after the other. */
export class UpdateRefused extends Error {}

const isContainer = (value: Value): value is Doc | Value[] =>
  Array.isArray(value) ||
  (typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype);

function copy(value: Value): Value {
  if (Array.isArray(value)) return value.map(copy);
  return isContainer(value)
    ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, copy(item)]))
    : value;
}

const read = (container: Doc | Value[], key: string): Value => (container as Doc)[key];

/** Writes the result of `next` at a path, making documents on the way; removes the field when it is undefined. */
// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: follows the manual step by step
function change(document: Doc, path: string[], create: boolean, next: (before: Value) => Value): void {
  let container: Doc | Value[] = document;
  for (const [i, key] of path.entries()) {
    if (Array.isArray(container) && !/^\d+$/.test(key)) {
      if (!create) return;
      throw new UpdateRefused();
    }
    if (i === path.length - 1) {
      const value = next(read(container, key));
      if (Array.isArray(container)) {
        if (value === undefined && Number(key) >= container.length) return;
        while (container.length < Number(key)) container.push(null);
        container[Number(key)] = value === undefined ? null : value;
      } else if (value === undefined) delete container[key];
      else container[key] = value;
      return;
    }
    let inside: Value = read(container, key);
    if (inside === undefined && create) {
      inside = {};
      if (Array.isArray(container)) while (container.length < Number(key)) container.push(null);
      (container as Doc)[key] = inside;
    }
    if (!isContainer(inside)) {
      if (!create) return;
      throw new UpdateRefused();
    }
    container = inside;
  }
}

function needArray(value: Value): Value[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw new UpdateRefused();
  return value;
}

function needNumber(value: Value): number {
  if (typeof value !== 'number') throw new UpdateRefused();
  return value;
}

function apply(document: Doc, operator: string, path: string[], operand: Value): unknown {
  const write = (next: (before: Value) => Value): unknown => change(document, path, true, next);
  const edit = (next: (before: Value) => Value): unknown => change(document, path, false, next);
  switch (operator) {
    case '$set':
      return write(() => copy(operand));
    case '$unset':
      return edit(() => undefined);
    case '$inc':
      return write((before) => (before === undefined ? operand : needNumber(before) + (operand as number)));
    case '$min':
      return write((before) =>
        before === undefined || compare(operand, before) < 0 ? copy(operand) : before,
      );
    case '$max':
      return write((before) =>
        before === undefined || compare(operand, before) > 0 ? copy(operand) : before,
      );
    case '$push':
      return write((before) => {
        const { $each, $position } = operand as {
          $each: Value[];
          $position?: number;
        };
        const array = [...needArray(before)];
        array.splice($position ?? array.length, 0, ...$each.map(copy));
        return array;
      });
    case '$addToSet':
      return write((before) => {
        const array = needArray(before);
        return array.some((item) => compare(item, operand) === 0) ? array : [...array, copy(operand)];
      });
    case '$pull':
      return edit((before) =>
        before === undefined
          ? undefined
          : needArray(before).filter((item) =>
              // A value is compared as it is; a condition also looks into an element that is an array.
              isContainer(operand) ? !matches({ item }, { item: operand }) : compare(item, operand) !== 0,
            ),
      );
    case '$pop':
      return edit((before) => {
        if (before === undefined) return undefined;
        return operand === 1 ? needArray(before).slice(0, -1) : needArray(before).slice(1);
      });
    default:
      throw new Error(`the model has no ${operator}`);
  }
}

/** The document after an update. Throws UpdateRefused where MongoDB answers with an error. */
export function update(document: Doc, changes: Doc): Doc {
  const after = copy(document) as Doc;
  for (const [operator, fields] of Object.entries(changes))
    for (const [field, operand] of Object.entries(fields as Doc))
      apply(after, operator, field.split('.'), operand);
  return after;
}
