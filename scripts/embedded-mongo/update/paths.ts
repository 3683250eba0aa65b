import { type Document, isDocument, setOwn, typeInfo } from '../values/bson-types.js';
import { badValue, CommandError } from '../values/errors.js';
import { type FieldPath, isArrayIndex } from '../values/field-path.js';

/** mongod pads an array with nulls up to a set index, to this many. */
const MAX_PADDING = 1_500_000;

/** The container of a path's last component, and that component. */
export interface Slot {
  container: Document | unknown[];
  key: string;
}

/**
 * Walks to the container of the last component. With `create`, missing documents on the way are made and a scalar
 * on the way throws PathNotViable (28); without, undefined is returned for both.
 */
export function slotAt(document: Document, path: FieldPath, create: boolean): Slot | undefined {
  let container: Document | unknown[] = document;
  for (const [i, part] of path.entries()) {
    if (Array.isArray(container) && !isArrayIndex(part)) {
      if (!create) return undefined;
      throw notViable(part, path[i - 1] ?? '', container);
    }
    if (i === path.length - 1) return { container, key: part };
    let next = readSlot({ container, key: part });
    if (next === undefined) {
      if (!create) return undefined;
      next = {};
      writeSlot({ container, key: part }, next);
    }
    if (!Array.isArray(next) && !isDocument(next)) {
      if (!create) return undefined;
      throw notViable(path[i + 1] as string, part, next);
    }
    container = next as Document | unknown[];
  }
  return undefined;
}

function notViable(field: string, name: string, value: unknown): CommandError {
  return new CommandError(28, `Cannot create field '${field}' in '${name}' of type ${typeInfo(value).alias}`);
}

export function readSlot({ container, key }: Slot): unknown {
  if (Array.isArray(container)) return container[Number(key)];
  return Object.hasOwn(container, key) ? container[key] : undefined;
}

export function writeSlot({ container, key }: Slot, value: unknown): void {
  if (!Array.isArray(container)) {
    setOwn(container, key, value);
    return;
  }
  const index = Number(key);
  if (index - container.length > MAX_PADDING)
    throw badValue(`can't backfill more than ${MAX_PADDING} elements`);
  while (container.length < index) container.push(null);
  container[index] = value;
}

/** What an operator with its operand does at one path of a document. */
export type Modifier = (document: Document, path: FieldPath) => void;

/** A modifier that writes a function of the value that is there (undefined: none). */
export function writing(next: (before: unknown, path: FieldPath, document: Document) => unknown): Modifier {
  return (document, path) => {
    const slot = slotAt(document, path, true);
    if (slot) writeSlot(slot, next(readSlot(slot), path, document));
  };
}
