import { Catalog } from '../storage/catalog.js';
import type { Storage } from '../storage/storage.js';
import { Cursors } from './cursors.js';

/** What the commands work on: the store, the catalog over it and the open cursors. */
export class Engine {
  readonly storage: Storage;
  readonly catalog = new Catalog();
  readonly cursors = new Cursors();

  constructor(storage: Storage) {
    this.storage = storage;
    this.catalog.load(storage);
    // Jobs of a failed commit may have changed the catalog in memory.
    storage.onRollback = () => this.catalog.load(storage);
  }

  async close(): Promise<void> {
    this.cursors.close();
    await this.storage.close();
  }
}
