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
    case '$mul':
      return write((before) => (before === undefined ? 0 : needNumber(before) * (operand as number)));
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
        const { $each, $position, $slice, $sort } = operand as {
          $each: Value[];
          $position?: number;
          $slice?: number;
          $sort?: 1 | -1;
        };
        const array = [...needArray(before)];
        array.splice($position ?? array.length, 0, ...$each.map(copy));
        if ($sort) array.sort((a, b) => $sort * compare(a, b));
        if ($slice === undefined) return array;
        return $slice < 0 ? array.slice($slice) : array.slice(0, $slice);
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

interface Change {
  operator: string;
  field: string;
  operand: Value;
}

const changesOf = (changes: Doc): Change[] =>
  Object.entries(changes).flatMap(([operator, fields]) =>
    Object.entries(fields as Doc).map(([field, operand]) => ({ operator, field, operand })),
  );

function applyAll(document: Doc, changes: Change[]): Doc {
  const after = copy(document) as Doc;
  for (const { operator, field, operand } of changes.sort((a, b) => (a.field < b.field ? -1 : 1)))
    apply(after, operator, field.split('.'), operand);
  return after;
}

/** The document after an update. Throws UpdateRefused where MongoDB answers with an error. */
export function update(document: Doc, changes: Doc): Doc {
  return applyAll(document, changesOf(changes));
}

/** The first element of `a` by which the query holds, seen alone; undefined for none. */
function positionOf(document: Doc, query: Doc): number | undefined {
  if (query.$or) {
    const branches = (query.$or as Doc[]).filter((branch) => matches(document, branch));
    const found = new Set(branches.map((branch) => positionOf(document, branch)));
    if (found.size > 1) throw new UpdateRefused();
    return [...found][0];
  }
  const position = (document.a as Value[]).findIndex((item) => matches({ ...document, a: [item] }, query));
  return position < 0 ? undefined : position;
}

/** The same for paths through `a` with positions: each is looked up in the document as it was before. */
export function updatePositions(document: Doc, changes: Doc, query: Doc, arrayFilter: Doc): Doc {
  const list = changesOf(changes);
  const parts = list.map(({ field }) => field.split('.')).filter(([first]) => first === 'a');
  const isFilter = (part: string | undefined) => part?.startsWith('$[') === true;
  const mixed = parts.some(([, part]) => isFilter(part)) && !parts.every(([, part]) => isFilter(part));
  const crossed = list.some(({ field }) => list.some((other) => other.field.startsWith(`${field}.`)));
  if (mixed || crossed) throw new UpdateRefused();
  if (!matches(document, query)) return document;
  const concrete = list.flatMap((one) =>
    expand(document, one.field, query, arrayFilter).map((field) => ({ ...one, field })),
  );
  for (const [i, { field }] of concrete.entries())
    if (concrete.some((other, k) => k !== i && `${other.field}.`.startsWith(`${field}.`)))
      throw new UpdateRefused();
  return applyAll(document, concrete);
}

function expand(document: Doc, field: string, query: Doc, arrayFilter: Doc): string[] {
  const [, part, ...rest] = field.split('.');
  const tail = rest.map((name) => `.${name}`).join('');
  const array = document.a as Value[];
  if (part === '$') {
    const position = positionOf(document, query);
    if (position === undefined) throw new UpdateRefused();
    return [`a.${position}${tail}`];
  }
  const all = [...array.keys()];
  if (part === '$[]') return all.map((i) => `a.${i}${tail}`);
  if (part !== '$[e]') return [field];
  const chosen = all.filter((i) => matches({ e: array[i] }, arrayFilter));
  if (rest[1] !== '$[]') return chosen.map((i) => `a.${i}${tail}`);
  return chosen.flatMap((i) => {
    const inner = (array[i] as Doc)?.l;
    if (!Array.isArray(inner)) throw new UpdateRefused();
    return inner.map((_, k) => `a.${i}.l.${k}`);
  });
}
