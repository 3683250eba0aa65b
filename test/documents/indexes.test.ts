import { expect } from 'chai';
import mongoose from 'mongoose';
import { service } from '../support/service.js';
import { tableOf } from './documents.js';

type Listed = { key: Record<string, unknown>; unique?: boolean; partialFilterExpression?: object };

/** The table's words for the kind of an index. */
function kindOf({ key, unique, partialFilterExpression }: Listed): string {
  const condition = Object.entries(partialFilterExpression ?? {}).map(([field, value]) => {
    const name = Object.keys(key).length === 1 ? 'it' : `\`${field}\``;
    return value === true ? `where ${name} is true` : `where ${name} exists`;
  });
  return [...(unique ? ['unique'] : []), ...condition].join(', ');
}

describe('the indexes of docs/operations.md', () => {
  it('are those that a service builds', async () => {
    await service();
    const built: string[][] = [];
    for (const { name } of await mongoose.connection.listCollections()) {
      const indexes = (await mongoose.connection.collection(name).listIndexes().toArray()) as Listed[];
      for (const index of indexes.filter(({ key }) => !('_id' in key && Object.keys(key).length === 1))) {
        const key = Object.entries(index.key).map(([field, direction]) => `${field}: ${direction}`);
        built.push([`\`${name}\``, `\`${key.join(', ')}\``, kindOf(index)]);
      }
    }
    const told = tableOf('docs/operations.md', '| collection | key | kind | for |');
    expect(told.map((cells) => cells.slice(0, 3))).to.have.deep.members(built);
  });
});
