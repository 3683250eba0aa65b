import { Code } from 'bson';
import { expect } from 'chai';
import { buildEngine, find, runCommand } from './run-command.js';

describe('embedded database: field names with a $', () => {
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

  it('a DBRef or JavaScript code is refused, wherever it stands', async () => {
    const engine = buildEngine();
    await runCommand(engine, { insert: 'c', documents: [{ _id: 1 }] });
    const ref = { $ref: 'd.c', $id: 7, x: 1 };
    for (const value of [ref, [{ a: ref }], new Code('1'), new Code('1', { a: 1 })]) {
      const replies = [
        await runCommand(engine, { insert: 'c', documents: [{ _id: 2, a: value }] }),
        await runCommand(engine, { update: 'c', updates: [{ q: {}, u: { $set: { a: value } } }] }),
        await runCommand(engine, {
          update: 'c',
          updates: [{ q: { _id: 3 }, u: { a: value }, upsert: true }],
        }),
      ];
      for (const { writeErrors } of replies)
        expect(writeErrors, JSON.stringify(value)).to.have.nested.property('[0].code', 238);
    }
    expect(await find(engine, 'c', {})).to.deep.equal([{ _id: 1 }]);
    await engine.close();
  });
});
