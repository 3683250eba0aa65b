import { mock } from 'node:test';
import { expect } from 'chai';
import type { Engine } from '../../src/commands/engine.js';
import type { Document } from '../../src/values/bson-types.js';
import { buildEngine, failureOf, runCommand } from '../support/run-command.js';

describe('embedded database: maxTimeMS', () => {
  let engine: Engine;

  beforeEach(async () => {
    engine = buildEngine();
    const documents = Array.from({ length: 1_000 }, (_, i) => ({ _id: i, a: i % 2, t: 'text' }));
    await runCommand(engine, { insert: 'c', documents });
    // Each look at the clock takes 1 ms.
    let now = 0;
    mock.method(performance, 'now', () => {
      now += 1;
      return now;
    });
  });
  afterEach(() => {
    mock.restoreAll();
    engine.close();
  });

  const slow: Document[] = [
    { find: 'c', filter: { t: 'none' } },
    { find: 'c', filter: {}, sort: { t: 1 }, limit: 1 },
    { distinct: 'c', key: 'a' },
    { aggregate: 'c', pipeline: [{ $group: { _id: '$a', n: { $sum: 1 } } }], cursor: {} },
    {
      aggregate: 'c',
      pipeline: [{ $match: { t: 'none' } }, { $group: { _id: 1, n: { $sum: 1 } } }],
      cursor: {},
    },
    { findAndModify: 'c', query: { t: 'none' }, update: { $set: { a: 1 } } },
  ];

  it('ends an operation that takes longer: 50', async () => {
    for (const command of slow)
      expect(await failureOf(engine, { ...command, maxTimeMS: 10 }), JSON.stringify(command)).to.include({
        ok: 0,
        code: 50,
        codeName: 'MaxTimeMSExpired',
        errmsg: 'operation exceeded time limit',
      });
  });

  it('is unlimited without it or with 0, and never spans operations', async () => {
    for (const command of slow)
      for (const limit of [{}, { maxTimeMS: 0 }, { maxTimeMS: 1_000 }])
        expect(await failureOf(engine, { ...command, ...limit }), JSON.stringify(command)).to.include({
          ok: 1,
        });
  });
});
