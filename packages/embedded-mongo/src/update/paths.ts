import { type Document, isDocument, setOwn, typeName } from '../values/bson-types.js';
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
 * Walks to the container of the last component. With `create`, missing documents on the path are created and
 * a scalar on it throws PathNotViable (28); without, both return undefined.
 */
export function slotAt(document: Document, path: FieldPath, create: true): Slot;
export function slotAt(document: Document, path: FieldPath, create: false): Slot | undefined;
export function slotAt(document: Document, path: FieldPath, create: boolean): Slot | undefined {
  let container: unknown = document;
  for (const [i, key] of path.entries()) {
    if (!(isDocument(container) || (Array.isArray(container) && isArrayIndex(key)))) {
      if (!create) return undefined;
      throw new CommandError(28, `Cannot create field '${key}' in a value of type ${typeName(container)}`);
    }
    const slot: Slot = { container, key };
    if (i === path.length - 1) return slot;
    container = readSlot(slot);
    if (container !== undefined) continue;
    if (!create) return undefined;
    container = {};
    writeSlot(slot, container);
  }
  return undefined;
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
