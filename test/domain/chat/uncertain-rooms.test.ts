import { expect } from 'chai';
import { MongoNetworkTimeoutError } from 'mongodb';
import { pino } from 'pino';
import { createUncertainRooms } from '../../../domain/chat/uncertain-rooms.js';
import { type FakeTime, fakeTime } from '../../support/time.js';

/** Rooms to be looked at, and a database that fails as a test says. */
function buildRooms() {
  const looked: [chatNo: number, seq: number][] = [];
  const faults: unknown[] = [];
  const database: { fault?: (chatNo: number) => unknown; gate?: Promise<void> } = {};
  const logger = pino({ level: 'error' }, { write: (line: string) => void faults.push(JSON.parse(line)) });
  const rooms = createUncertainRooms(async (chatNo, seq) => {
    looked.push([chatNo, seq]);
    await database.gate;
    const fault = database.fault?.(chatNo);
    if (fault) throw fault;
  }, logger);
  return { rooms, looked, faults, database };
}

const away = () => new MongoNetworkTimeoutError('the database is away');

describe('rooms with a write of unknown outcome', () => {
  let time: FakeTime;
  beforeEach(() => {
    time = fakeTime();
  });
  afterEach(() => time.restore());

  it('are looked at at once, one after another, each from the lowest number', async () => {
    const { rooms, looked, database } = buildRooms();
    let open = () => {};
    database.gate = new Promise((resolve) => {
      open = resolve;
    });
    rooms.add(1, 5);
    rooms.add(2, 9);
    rooms.add(2, 7);
    rooms.add(2, 8);
    await time.pass(0);
    expect(looked).to.deep.equal([[1, 5]]);
    open();
    await time.pass(0);
    expect(looked.splice(0)).to.deep.equal([
      [1, 5],
      [2, 7],
    ]);
    rooms.add(1, 6);
    await time.pass(0);
    expect(looked, 'what was found out is forgotten').to.deep.equal([[1, 6]]);
    await time.pass(60_000);
    expect(looked).to.have.length(1);
    rooms.close();
  });

  it('are looked at once more where a write failed during the look', async () => {
    const { rooms, looked, database } = buildRooms();
    let open = () => {};
    database.gate = new Promise((resolve) => {
      open = resolve;
    });
    rooms.add(1, 5);
    rooms.add(1, 5);
    open();
    await time.pass(0);
    expect(looked).to.deep.equal([
      [1, 5],
      [1, 5],
    ]);
    rooms.close();
  });

  it('are looked at again, a second later, until the database answers', async () => {
    const { rooms, looked, faults, database } = buildRooms();
    database.fault = away;
    rooms.add(1, 5);
    rooms.add(2, 3);
    await time.pass(0);
    expect(looked.splice(0), 'the others would fail as well').to.deep.equal([[1, 5]]);
    await time.pass(900);
    expect(looked).to.deep.equal([]);
    await time.pass(5_000);
    expect(looked.length).to.be.within(5, 11);
    delete database.fault;
    looked.length = 0;
    await time.pass(1_000);
    expect(looked).to.have.deep.members([
      [1, 5],
      [2, 3],
    ]);
    await time.pass(10_000);
    expect(looked).to.have.length(2);
    expect([time.pending, faults]).to.deep.equal([0, []]);
    rooms.close();
  });

  it('do not keep each other from being found out about', async () => {
    const { rooms, looked, faults, database } = buildRooms();
    database.fault = (chatNo) => chatNo === 1 && new Error('a broken record');
    rooms.add(1, 5);
    rooms.add(2, 3);
    await time.pass(10_000);
    expect(looked).to.deep.equal([
      [1, 5],
      [2, 3],
    ]);
    expect(faults).to.have.length(1);
    expect(faults[0]).to.include({ chatNo: 1 });
    rooms.close();
  });

  it('are left alone once the process ends', async () => {
    const { rooms, looked, database } = buildRooms();
    database.fault = away;
    rooms.add(1, 5);
    await time.pass(0);
    rooms.close();
    rooms.add(2, 3);
    await time.pass(10_000);
    expect(looked).to.deep.equal([[1, 5]]);
  });

  it('are left alone by a look that is under way when the process ends', async () => {
    const { rooms, looked } = buildRooms();
    rooms.add(1, 5);
    rooms.add(2, 3);
    rooms.close();
    await time.pass(10_000);
    expect(looked).to.deep.equal([[1, 5]]);
  });
});
