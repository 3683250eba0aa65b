import { Catalog } from '../storage/catalog.js';
import type { Storage } from '../storage/storage.js';
import { type CursorLimits, Cursors } from './cursors.js';

/** What the commands work on: the store, the catalog over it and the open cursors. */
export class Engine {
  readonly storage: Storage;
  readonly catalog = new Catalog();
  readonly cursors: Cursors;

  constructor(storage: Storage, limits: CursorLimits) {
    this.storage = storage;
    this.cursors = new Cursors(limits);
    this.catalog.load(storage);
    // Jobs of a failed commit may have changed the catalog in memory.
    storage.onRollback = () => this.catalog.load(storage);
  }

  async close(): Promise<void> {
    this.cursors.close();
    await this.storage.close();
  }
}
