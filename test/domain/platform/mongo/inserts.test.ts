import { expect } from 'chai';
import { writeErrorsOf } from '../../../../domain/platform/mongo/errors.js';
import { insertEach, insertInOrder, insertNew } from '../../../../domain/platform/mongo/inserts.js';

/** A model whose inserts fail so; what was asked of it is kept. */
function failing(error?: unknown) {
  const asked: { records: unknown[]; ordered: boolean }[] = [];
  const collection = {
    async insertMany(records: never[], { ordered }: { ordered: boolean }) {
      asked.push({ records, ordered });
      if (error) throw error;
    },
  };
  return { model: { collection }, asked };
}

const DUPLICATE = 11_000;
const refused = (index: number, code = DUPLICATE) => ({ index, code });
const bulkError = (...writeErrors: ReturnType<typeof refused>[]) =>
  Object.assign(new Error('bulk write failed'), { writeErrors });
const away = new Error('connection closed');
const records = [{ _id: 1 }, { _id: 2 }, { _id: 3 }];

/** Failures whose outcome nobody knows, or that are no refusals of a unique index. */
const unknown: [what: string, error: unknown][] = [
  ['a lost connection', away],
  ['no refused record', { code: DUPLICATE, writeErrors: [] }],
  ['another refusal', bulkError(refused(0, 121))],
];

const outcome = (inserted: Promise<unknown>) => inserted.catch((error) => ({ thrown: error }));

describe('inserts of many records', () => {
  it('unordered, return those that a unique index refused', async () => {
    const { model, asked } = failing();
    expect(await insertNew(model, records)).to.deep.equal([]);
    expect(asked).to.deep.equal([{ records, ordered: false }]);
    const error = bulkError(refused(2), refused(0));
    expect(await insertNew(failing(error).model, records)).to.deep.equal([records[0], records[2]]);
  });

  it('in order, return how many are stored before the refused one', async () => {
    const { model, asked } = failing();
    expect(await insertInOrder(model, records)).to.equal(3);
    expect(asked).to.deep.equal([{ records, ordered: true }]);
    expect(await insertInOrder(failing(bulkError(refused(2))).model, records)).to.equal(2);
    expect(await insertInOrder(failing(bulkError(refused(0))).model, records)).to.equal(0);
  });

  for (const [what, error] of unknown) {
    it(`fail as a whole for ${what}`, async () => {
      expect(await outcome(insertNew(failing(error).model, records))).to.deep.equal({ thrown: error });
      expect(await outcome(insertInOrder(failing(error).model, records))).to.deep.equal({ thrown: error });
    });
  }

  it('fail as a whole if one refusal has another reason', async () => {
    const error = bulkError(refused(0), refused(1, 121));
    expect(await outcome(insertNew(failing(error).model, records))).to.deep.equal({ thrown: error });
  });

  it('return an outcome for each record', async () => {
    const error = bulkError(refused(0), refused(1, 121));
    expect(await insertEach(failing(error).model, records)).to.deep.equal([false, error, true]);
    expect(await insertEach(failing().model, records)).to.deep.equal([true, true, true]);
    expect(await outcome(insertEach(failing(away).model, records))).to.deep.equal({ thrown: away });
  });

  it('of no records send nothing', async () => {
    const { model, asked } = failing(away);
    expect(await insertNew(model, [])).to.deep.equal([]);
    expect(asked).to.deep.equal([]);
  });

  it('have an unknown outcome if no single record is named', () => {
    for (const error of [undefined, null, 'text', away, { code: DUPLICATE, writeErrors: [] }])
      expect(writeErrorsOf(error)).to.equal(undefined);
  });
});
