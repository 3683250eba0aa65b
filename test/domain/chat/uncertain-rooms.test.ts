import { expect } from 'chai';
import { MongoNetworkTimeoutError } from 'mongodb';
import { pino } from 'pino';
import { createUncertainRooms } from '../../../domain/chat/uncertain-rooms.js';
import { metrics } from '../../../domain/platform/observe/metrics.js';
import { counted } from '../../support/counted.js';
import { gate } from '../../support/eventually.js';
import { type FakeTime, fakeTime } from '../../support/time.js';

/** Uncertain rooms on a database that fails as a test says. */
function buildRooms() {
  const republished: [chatNo: number, seq: number][] = [];
  const faults: unknown[] = [];
  const database: { fault?: (chatNo: number) => unknown; gate?: Promise<void> } = {};
  const logger = pino({ level: 'error' }, { write: (line: string) => void faults.push(JSON.parse(line)) });
  const rooms = createUncertainRooms(async (chatNo, seq) => {
    republished.push([chatNo, seq]);
    await database.gate;
    const fault = database.fault?.(chatNo);
    if (fault) throw fault;
  }, logger);
  return { rooms, republished, faults, database };
}

const away = () => new MongoNetworkTimeoutError('the database is away');

describe('rooms with a write of unknown outcome', () => {
  let time: FakeTime;
  beforeEach(() => {
    time = fakeTime();
  });
  afterEach(() => time.restore());

  it('are republished at once, one after another, each from the lowest number', async () => {
    const mended = () => counted(metrics.driftMended, { what: 'room' });
    const before = await mended();
    const { rooms, republished, database } = buildRooms();
    const { open, opened } = gate();
    database.gate = opened;
    rooms.add(1, 5);
    rooms.add(2, 9);
    rooms.add(2, 7);
    rooms.add(2, 8);
    await time.pass(0);
    expect(republished).to.deep.equal([[1, 5]]);
    open();
    await time.pass(0);
    expect(republished.splice(0)).to.deep.equal([
      [1, 5],
      [2, 7],
    ]);
    expect(await mended()).to.equal(before + 2);
    rooms.add(1, 6);
    await time.pass(0);
    expect(republished, 'a settled room is forgotten').to.deep.equal([[1, 6]]);
    await time.pass(60_000);
    expect(republished).to.have.length(1);
    rooms.close();
  });

  it('are republished again if another write fails meanwhile', async () => {
    const { rooms, republished, database } = buildRooms();
    const { open, opened } = gate();
    database.gate = opened;
    rooms.add(1, 5);
    rooms.add(1, 5);
    open();
    await time.pass(0);
    expect(republished).to.deep.equal([
      [1, 5],
      [1, 5],
    ]);
    rooms.close();
  });

  it('are tried again every second until the database answers', async () => {
    const { rooms, republished, faults, database } = buildRooms();
    database.fault = away;
    rooms.add(1, 5);
    rooms.add(2, 3);
    await time.pass(0);
    expect(republished.splice(0), 'the others would fail as well').to.deep.equal([[1, 5]]);
    await time.pass(900);
    expect(republished).to.deep.equal([]);
    await time.pass(5_000);
    expect(republished.length).to.be.within(5, 11);
    delete database.fault;
    republished.length = 0;
    await time.pass(1_000);
    expect(republished).to.have.deep.members([
      [1, 5],
      [2, 3],
    ]);
    await time.pass(10_000);
    expect(republished).to.have.length(2);
    await time.pass(80_000);
    expect([time.pending, faults]).to.deep.equal([0, []]);
    rooms.close();
  });

  it('are named until a minute after the database has answered: it may apply a write that late', async () => {
    const { rooms, database } = buildRooms();
    const { open, opened } = gate();
    database.fault = away;
    rooms.add(1, 5);
    rooms.add(2, 3);
    await time.pass(70_000);
    expect(rooms.unsure(), 'no answer').to.have.members([1, 2]);
    database.gate = opened;
    await time.pass(1_000);
    expect(rooms.unsure(), 'one is being read').to.have.members([1, 2]);
    delete database.fault;
    open();
    await time.pass(59_000);
    expect(rooms.unsure()).to.have.members([1, 2]);
    await time.pass(2_000);
    expect(rooms.unsure()).to.deep.equal([]);
    rooms.close();
  });

  it('do not block each other', async () => {
    const { rooms, republished, faults, database } = buildRooms();
    database.fault = (chatNo) => chatNo === 1 && new Error('a broken record');
    rooms.add(1, 5);
    rooms.add(2, 3);
    await time.pass(10_000);
    expect(republished).to.deep.equal([
      [1, 5],
      [2, 3],
    ]);
    expect(faults).to.have.length(1);
    expect(faults[0]).to.include({ chatNo: 1 });
    rooms.close();
  });

  it('are not read after close', async () => {
    const { rooms, republished, database } = buildRooms();
    database.fault = away;
    rooms.add(1, 5);
    await time.pass(0);
    rooms.close();
    rooms.add(2, 3);
    await time.pass(10_000);
    expect(republished).to.deep.equal([[1, 5]]);
  });

  it('stay named after close', async () => {
    const { rooms, database } = buildRooms();
    rooms.add(1, 5);
    await time.pass(0);
    database.fault = away;
    rooms.add(2, 3);
    await time.pass(0);
    rooms.close();
    expect(rooms.unsure()).to.have.members([1, 2]);
  });

  it('are not read any further by a running pass after close', async () => {
    const { rooms, republished } = buildRooms();
    rooms.add(1, 5);
    rooms.add(2, 3);
    rooms.close();
    await time.pass(10_000);
    expect(republished).to.deep.equal([[1, 5]]);
  });
});
