import { expect } from 'chai';
import type { Document } from '../../src/values/bson-types.js';
import { CommandFailure, useEngine } from '../support/run-command.js';

type ProjectionProbe = [projection: Document, expected: Document | number, source: string];

const PROJECTED: Document = {
  _id: 1,
  a: 1,
  b: { x: 1, y: 2 },
  c: [{ x: 1, y: 2 }, 5, { y: 3 }, [{ x: 4 }]],
  d: [1, 2, 3, 4, 5],
};
const FIELDS = 'Project Fields to Return from Query';

const projections: ProjectionProbe[] = [
  [{}, PROJECTED, FIELDS],
  [{ a: 1 }, { _id: 1, a: 1 }, `${FIELDS}: specified fields and _id`],
  [{ a: true }, { _id: 1, a: 1 }, FIELDS],
  [{ a: 1, _id: 0 }, { a: 1 }, `${FIELDS}: suppress _id`],
  [{ _id: 1 }, { _id: 1 }, FIELDS],
  [{ _id: 0 }, { a: 1, b: PROJECTED.b, c: PROJECTED.c, d: PROJECTED.d }, FIELDS],
  [{ a: 0, c: 0, d: 0 }, { _id: 1, b: { x: 1, y: 2 } }, `${FIELDS}: all but the excluded`],
  [{ a: 0, c: 0, d: 0, _id: 0 }, { b: { x: 1, y: 2 } }, FIELDS],
  [{ d: 1, a: 1 }, { _id: 1, a: 1, d: [1, 2, 3, 4, 5] }, `${FIELDS}: in the order of the document`],
  [{ 'b.x': 1 }, { _id: 1, b: { x: 1 } }, `${FIELDS}: embedded`],
  [{ 'b.x': 0, c: 0, d: 0 }, { _id: 1, a: 1, b: { y: 2 } }, `${FIELDS}: suppress embedded`],
  [
    { 'c.x': 1 },
    { _id: 1, c: [{ x: 1 }, {}, [{ x: 4 }]] },
    `${FIELDS}: embedded in an array; jstests/core/null_query_semantics.js`,
  ],
  [
    { 'c.y': 0, a: 0, b: 0, d: 0 },
    { _id: 1, c: [{ x: 1 }, 5, {}, [{ x: 4 }]] },
    `${FIELDS}: embedded in an array`,
  ],
  [{ z: 1 }, { _id: 1 }, FIELDS],
  [{ 'a.z': 1 }, { _id: 1 }, `${FIELDS}: a scalar has no fields; jstests/core/null_query_semantics.js`],
  [{ 'b.z': 1 }, { _id: 1, b: {} }, 'jstests/core/null_query_semantics.js'],
  [{ a: 1, b: 0 }, 31254, `${FIELDS}: inclusion and exclusion cannot be combined`],
  [{ a: 0, b: 1 }, 31253, `${FIELDS}: inclusion and exclusion cannot be combined`],
  [{ b: 1, 'b.x': 1 }, 31249, 'find: path collision'],
  [{ 'b.x': 1, b: 1 }, 31249, 'find: path collision'],
  [{ a: '$b' }, 238, 'refused by name: a computed projection'],
  [{ a: { $meta: 'textScore' } }, 238, 'refused by name'],
  [{ d: { $slice: 1 } }, 238, 'refused by name'],
  [{ d: { $elemMatch: { $gt: 2 } } }, 238, 'refused by name'],
  [{ 'd.$': 1 }, 16410, 'field_path.cpp; $ (projection) is not served'],
];

describe('embedded database: shape of results', () => {
  const { run, find } = useEngine();
  it(`${projections.length} probes of projections`, async () => {
    await run({ insert: 'c', documents: [PROJECTED] });
    for (const [projection, expected, source] of projections) {
      const label = `${JSON.stringify(projection)} (${source})`;
      if (typeof expected === 'number') {
        const failure = await find('c', { projection }).catch((error: CommandFailure) => error);
        expect(failure, label).to.be.instanceOf(CommandFailure);
        expect((failure as CommandFailure).reply.code, label).to.equal(expected);
        continue;
      }
      const [document] = await find('c', { projection });
      expect(document, label).to.deep.equal(expected);
      expect(Object.keys(document ?? {}), label).to.deep.equal(Object.keys(expected));
    }
  });
});
