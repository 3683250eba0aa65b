import { expect } from 'chai';
import type { Document } from '../../../scripts/embedded-mongo/bson-types.js';
import { buildEngine, find, runCommand } from './run-command.js';

describe('embedded database: field names with a $', () => {
  it('the fields of a DBRef are fields, in filters, sorts, projections and indexes', async () => {
    const engine = buildEngine();
    const refs = [
      { $ref: 'c', $id: 2 },
      { $ref: 'c', $id: 1 },
      { $ref: 'd', $id: 1 },
    ];
    const documents: Document[] = refs.map((a, _id) => ({
      _id,
      a,
      list: [{ ...a, x: _id }],
    }));
    await runCommand(engine, { insert: 'c', documents });
    await runCommand(engine, { insert: 'c', documents: [{ _id: 3, r: { $ref: 'd.c', $id: 7, x: 1 } }] });
    await runCommand(engine, { update: 'c', updates: [{ q: { _id: 3 }, u: { $set: { changed: true } } }] });
    const asStored = { r: { $ref: 'd.c', $id: 7, x: 1 }, changed: true };
    expect(await find(engine, 'c', { filter: asStored }), 'a document, whatever its fields').to.have.lengthOf(
      1,
    );
    const ids = async (command: Document) => (await find(engine, 'c', command)).map((one) => one._id);
    const asked = async (label: string) => {
      expect(await ids({ filter: { 'a.$id': 1 } }), label).to.have.members([1, 2]);
      expect(await ids({ filter: { 'a.$ref': 'c' }, sort: { 'a.$id': 1 } }), label).to.deep.equal([1, 0]);
      expect(await ids({ filter: { a: { $ref: 'c', $id: 2 } } }), label).to.deep.equal([0]);
      expect(await ids({ filter: { a: { $in: [{ $ref: 'd', $id: 1 }] } } }), label).to.deep.equal([2]);
      expect(await ids({ filter: { list: { $elemMatch: { $ref: 'c', $id: 1 } } } }), label).to.deep.equal([
        1,
      ]);
      expect(await ids({ filter: { list: { $elemMatch: { $id: 1, x: 2 } } } }), label).to.deep.equal([2]);
      expect(
        await find(engine, 'c', { projection: { 'a.$id': 1, _id: 0 }, filter: { _id: 0 } }),
        label,
      ).to.deep.equal([{ a: { $id: 2 } }]);
    };
    await asked('without an index');
    await runCommand(engine, {
      createIndexes: 'c',
      indexes: [
        { key: { 'a.$id': 1 }, name: 'id' },
        { key: { a: 1 }, name: 'a' },
        { key: { 'list.$id': 1 }, name: 'list' },
      ],
    });
    await asked('with indexes');
    await engine.close();
  });

  it("names with a $ are refused where mongod's FieldPath refuses them", async () => {
    const engine = buildEngine();
    await runCommand(engine, { insert: 'c', documents: [{ _id: 1, a: { $x: 1 } }] });
    expect(await find(engine, 'c', { filter: { 'a.$x': 1 } })).to.have.lengthOf(1);
    for (const command of [{ sort: { 'a.$x': 1 } }, { projection: { 'a.$x': 1 } }, { sort: { $x: 1 } }]) {
      const failure = await find(engine, 'c', command).catch((error) => error);
      expect(failure.reply, JSON.stringify(command)).to.include({ code: 16410 });
      expect(failure.message).to.include('$x');
    }
    await engine.close();
  });
});
