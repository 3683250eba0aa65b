import { expect } from 'chai';
import { createMemoryRecentClients } from '../../../domain/chat/recent-clients.memory.js';
import { anotherChat, openRoom } from '../../support/chat.js';

/** The chat of another process, and the rooms for which recent clients were looked up. */
async function build(setting: 'bound' | 'off') {
  const recentClients = createMemoryRecentClients();
  const log: unknown[] = [];
  const chat = await anotherChat({
    config: { LEGACY_ANONYMOUS: setting },
    recentClients: {
      ...recentClients,
      touch(...seen) {
        log.push(['touch', ...seen]);
        recentClients.touch(...seen);
      },
      find(client, chatNo, memberNos) {
        log.push(['find', client, chatNo]);
        return recentClients.find(client, chatNo, memberNos);
      },
    },
  });
  return { chat, log };
}

describe('a caller without a token whom nobody knows', () => {
  it('puts no room into memory, and costs the same look-ups as one who is known', async () => {
    const { asker, chatNo, saleNo } = await openRoom();
    const { chat, log } = await build('bound');
    chat.noteClient('known', asker.no, { rooms: [chatNo] });
    log.length = 0;
    const message = { chatNo, saleNo, contentType: 'text', content: 'x' } as const;
    const refused = await chat.pushMessage({ client: 'strange' }, message, async () => {}).catch((e) => e);
    expect(refused).to.include({ code: 'UNAUTHORIZED' });
    await chat.disconnectFromRoom({ client: 'strange' }, chatNo, asker.email);
    expect(chat.knownHead(chatNo)).to.equal(undefined);
    await chat.disconnectFromRoom({ client: 'known' }, chatNo, asker.email);
    expect(log).to.deep.equal([
      ['find', 'strange', chatNo],
      ['find', 'strange', chatNo],
      ['find', 'known', chatNo],
    ]);
    await chat.pushMessage({ client: 'known' }, message, async () => {});
    expect(chat.knownHead(chatNo)).to.include({ seq: 1 });
    await chat.close();
  });

  it('is not looked for with LEGACY_ANONYMOUS=off: no client is remembered', async () => {
    const { asker, chatNo } = await openRoom();
    const { chat, log } = await build('off');
    chat.noteClient('known', asker.no, { rooms: [chatNo] });
    await chat.disconnectFromRoom({ client: 'known' }, chatNo, asker.email);
    expect(log).to.deep.equal([]);
    await chat.close();
  });
});
