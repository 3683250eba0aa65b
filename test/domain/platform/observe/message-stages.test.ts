import { expect } from 'chai';
import { type MessageStage, measureStages } from '../../../../domain/platform/observe/message-stages.js';
import { metrics } from '../../../../domain/platform/observe/metrics.js';
import { openRoom } from '../../../support/chat.js';
import { counted } from '../../../support/counted.js';
import { eventually } from '../../../support/eventually.js';
import { type Client, closeSockets, connect } from '../../../support/sockets.js';

const STAGES: MessageStage[] = ['receive', 'queue', 'insert', 'publish', 'sequence', 'write'];

describe('the stages of messages', () => {
  let sender: Client;
  let chatNo: number;
  beforeEach(async () => {
    const room = await openRoom();
    chatNo = room.chatNo;
    sender = await connect(room.asker);
    await sender.ask('room:join', { chatNo });
  });
  afterEach(() => {
    measureStages('off');
    closeSockets();
  });

  const send = (clientId: string) =>
    sender.ask('message:send', { chatNo, contentType: 'text', content: 'hello', clientId });
  const numbers = () => Promise.all(STAGES.map((stage) => counted(metrics.messageStages, { stage })));

  it('are measured with the setting, each once, and a repeated send has no more than it passes', async () => {
    const before = await numbers();
    measureStages('on');
    await send('one');
    const once = before.map((number) => number + 1);
    await eventually(async () => expect(await numbers()).to.deep.equal(once));
    await send('one');
    const [received = 0, queued = 0, ...others] = once;
    await eventually(async () =>
      expect(await numbers()).to.deep.equal([received + 1, queued + 1, ...others]),
    );
  });

  it('are those of one message: together the time until it is written', async () => {
    const seconds = async () => {
      const { values } = await metrics.messageStages.get();
      return values
        .filter(({ metricName }) => metricName?.endsWith('_sum'))
        .reduce((sum, { value }) => sum + value, 0);
    };
    measureStages('on');
    const [before, written] = [await seconds(), await counted(metrics.messageStages, { stage: 'write' })];
    const sentAt = performance.now();
    await send('two');
    await eventually(async () =>
      expect(await counted(metrics.messageStages, { stage: 'write' })).to.equal(written + 1),
    );
    const passed = (performance.now() - sentAt) / 1_000;
    expect((await seconds()) - before)
      .to.be.greaterThan(0)
      .and.at.most(passed);
  });

  it('are not measured without it', async () => {
    const before = await numbers();
    await send('three');
    expect(await numbers()).to.deep.equal(before);
  });
});
