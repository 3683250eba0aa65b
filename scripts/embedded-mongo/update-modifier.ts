import type { Document } from './bson-types.js';
import type { FieldPath } from './field-path.js';
import { readSlot, slotAt, writeSlot } from './update-paths.js';

/** What an operator with its operand does at one concrete path of a document. */
export interface Modifier {
  apply(document: Document, path: FieldPath): void;
  /** A second path it writes ($rename's target), for conflict detection. */
  alsoWrites?: FieldPath;
}

/** A modifier that writes a function of the value that is there (undefined: none). */
export function writing(next: (before: unknown, path: FieldPath, document: Document) => unknown): Modifier {
  return {
    apply(document, path) {
      const slot = slotAt(document, path, true);
      if (slot) writeSlot(slot, next(readSlot(slot), path, document));
    },
  };
}
