import { expect } from 'chai';
import { openScratch, runHere, runScript, type Scratch, SEED } from './script-runs.js';

/** Damages the data. @returns the line that verify must print for each damage */
async function plant(scratch: Scratch): Promise<RegExp[]> {
  const table = (name: string) => scratch.collection(name);
  await table('articles').updateOne({ _id: 3 as never }, { $set: { hearts: 99 } });
  await table('articles').updateOne({ _id: 4 as never }, { $inc: { comments: -1 } });
  await table('comments').updateOne({ _id: 1 as never }, { $set: { hearts: 50 } });
  // A lost message: a gap, and every later running count is one too high.
  await table('messages').deleteOne({ chatNo: 1, seq: 3 });
  // A read position past the newest message.
  await table('rooms').updateOne({ _id: 2 as never }, { $set: { 'read.joiner': { seq: 90, others: 80 } } });
  await table('notifications').deleteOne({ memberNo: 1, n: 3 });
  // A member without their first number, next to one who has only that number.
  await table('notifications').insertMany([
    { _id: 900_000_001 as never, memberNo: 900_000_001, n: 1, cause: 'a' },
    { _id: 900_000_002 as never, memberNo: 900_000_002, n: 2, cause: 'a' },
  ]);
  await table('sequences').updateOne({ _id: 'adoption' as never }, { $set: { value: 3 } });
  await table('sequences').updateOne({ _id: 'notification' as never }, { $set: { value: 1 } });
  return [
    /^article 3 hearts: 99, but its records say \d+$/m,
    /^article 4 comments: \d+, but its records say \d+$/m,
    /^comment 1 hearts: 50, but its records say \d+$/m,
    /^room 1: message number 4 follows 2$/m,
    /^room 1: message 4 has the (creator|joiner) sending \d+ messages so far, but there are \d+/m,
    /^room 2: the room has the joiner reading up to 90, but 5 is the newest$/m,
    /^room 2: the joiner's unread count is -\d+, but 0 messages are unread$/m,
    /^notifications of member 1: number 4 follows 2$/m,
    /^notifications of member 900000002: number 2 follows 0$/m,
    /^sequence adoption: stands at 3, but number 30 is in use$/m,
    /^sequence notification: stands at 1, but number \d+ is in use$/m,
  ];
}

describe('npm run verify', () => {
  let scratch: Scratch;
  const verify = (...args: string[]) => runHere('scripts/verify.js', args, scratch.settings);
  before(async () => {
    scratch = await openScratch();
    expect(await runHere(SEED, [], scratch.settings)).to.include({
      status: 0,
      stderr: '',
    });
  });
  after(() => scratch.close());

  it('finds nothing in data that the domain wrote', async () => {
    const { status, stdout, stderr } = await runScript('scripts/verify.js', [], scratch.settings);
    expect(stdout).to.match(/^everything agrees \(\d+ records\)\n$/);
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
  });

  it('35: a unique index that is missing beside records stops every start, which names it, until --repair builds it', async () => {
    const messages = scratch.collection('messages');
    await messages.dropIndex('chatNo_1_seq_1');
    const missing =
      'missing database indexes: messages {"chatNo":1,"seq":1} unique (npm run verify -- --repair builds it)';
    const { status, stderr } = await runScript('scripts/start.js', [], {
      ...scratch.settings,
      HTTP_PORT: '0',
      GATEWAY_PORT: '0',
    });
    expect({ status, stderr }).to.deep.equal({ status: 1, stderr: `${missing}\n` });
    expect(await verify()).to.include({ status: 1, stderr: `${missing}\n` });

    const { insertedId } = await messages.insertOne({ chatNo: 1, seq: 1 });
    const refused = await verify('--repair');
    expect(refused.status).to.equal(1);
    expect(refused.stderr).to.match(/E11000.* index: chatNo_1_seq_1 /);
    await messages.deleteOne({ _id: insertedId });
    expect(await verify('--repair')).to.include({ status: 0, stderr: '' });
  });

  it('lists planted differences, and --repair repairs them; unread messages stay unread', async () => {
    const lines = await plant(scratch);
    const found = await verify();
    expect(found.status).to.equal(1);
    for (const line of lines) expect(found.stdout).to.match(line);
    expect(found.stdout.match(/^notifications of /gm), 'a line for each gap').to.have.length(2);
    expect(found.stdout).to.match(/\d+ differences \(\d+ records\)\n$/);

    const repaired = await verify('--repair');
    expect(repaired).to.include({ status: 0, stderr: '' });
    expect(repaired.stdout).to.match(/everything agrees, \d+ repaired \(\d+ records\)\n$/);
    const messages = await scratch.collection('messages').find({ chatNo: 1 }).sort({ seq: 1 }).toArray();
    expect(messages.map(({ seq }) => seq)).to.deep.equal([1, 2, 3, 4, 5, 6]);
    // The last two were unread before.
    const head = messages.at(-1);
    expect(head?.sent.creator - head?.read.joiner.others).to.equal(2);
    const sequence = await scratch.collection('sequences').findOne({ _id: 'adoption' as never });
    expect(sequence?.value).to.equal(30);
  });

  it('repairs numbers below 1', async () => {
    const [messages, notifications] = ['messages', 'notifications'].map((name) => scratch.collection(name));
    const before = await messages?.find({ chatNo: 1 }).sort({ seq: 1 }).toArray();
    for (const message of before ?? []) {
      const lower = { seq: -2, 'read.creator.seq': -2, 'read.joiner.seq': -2 };
      await messages?.updateOne({ _id: message._id }, { $inc: lower });
    }
    const room = { $inc: { 'read.creator.seq': -2, 'read.joiner.seq': -2 } };
    await scratch.collection('rooms').updateOne({ _id: 1 as never }, room);
    await notifications?.updateOne({ memberNo: 1, n: 1 }, { $set: { n: 0 } });
    expect((await verify()).stdout).to.match(/^notifications of member 1: number 0 follows 0$/m);
    const { status, stdout } = await verify('--repair');
    expect(status, stdout).to.equal(0);
    expect(await messages?.find({ chatNo: 1 }).sort({ seq: 1 }).toArray()).to.deep.equal(before);
  });

  it('leaves what it cannot decide to the operator', async () => {
    const read = { creator: { seq: 0, others: 0 }, joiner: { seq: 0, others: 0 } };
    const sent = { creator: 1, joiner: 0 };
    const orphan = { _id: 'orphan' as never, chatNo: 777, seq: 1, senderNo: 1, sent, read };
    await scratch.collection('messages').insertOne(orphan);
    const newest = await scratch.collection('messages').findOne({ chatNo: 3 }, { sort: { seq: -1 } });
    const seq = newest?.seq + 1;
    const strange = { ...newest, _id: 'strange' as never, seq, senderNo: 999, clientKey: 'strange' };
    await scratch.collection('messages').insertOne(strange);
    const { status, stdout } = await verify('--repair');
    expect(status).to.equal(1);
    expect(stdout.split('\n').slice(0, -2)).to.deep.equal([
      'room 777: does not exist, but has 1 messages',
      `room 3: message ${seq} is by member 999, who takes no part`,
    ]);
    expect(stdout).to.match(/\n2 differences \(\d+ records\)\n$/);
  });
});
