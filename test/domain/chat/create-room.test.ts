import { expect } from 'chai';
import type { Chat } from '../../../domain/chat/index.js';
import { Room } from '../../../domain/chat/room.model.js';
import { createQuotas } from '../../../domain/platform/rate-limits/index.js';
import { expectError, type Member, member } from '../../support/api.js';
import { adoptionPost, anotherChat } from '../../support/chat.js';
import { meanwhile } from '../../support/database-calls.js';
import { serveHttp } from '../../support/http-server.js';
import { service } from '../../support/service.js';

const DAY_S = 86_400;

describe('the quota of rooms', () => {
  let chat: Chat;
  let author: Member;
  let asker: Member;
  beforeEach(async () => {
    [author, asker] = [await member(), await member()];
    chat = await anotherChat({
      quotas: createQuotas({
        RATE_LIMIT: 'on',
        ROOMS_PER_DAY: 2,
        ...{ MESSAGES_PER_DAY: 1, ARTICLES_PER_DAY: 1, COMMENTS_PER_DAY: 1 },
      }),
    });
  });
  afterEach(() => chat.close());

  const newRoom = async () => ({
    saleNo: await adoptionPost(author),
    createMember: author.no,
  });
  const open = (room: Awaited<ReturnType<typeof newRoom>>) => chat.createRoom(asker.actor, room);
  const refusal = async () => (await open(await newRoom()).catch((error) => error)).code;

  it('bounds the new rooms of a member, and answers for those that exist', async () => {
    const { server, base } = await serveHttp({}, { chat });
    const ask = (json: object, who = asker) => who.call('/chatroom', { method: 'POST', json }, base);
    const rooms = [await newRoom(), await newRoom(), await newRoom()] as const;
    for (const room of [rooms[0], rooms[0], rooms[1]]) expect((await ask(room)).status).to.equal(200);
    const text = 'more than 2 rooms in 24 h';
    const { headers } = await expectError(ask(rooms[2]), 429, 'QUOTA_EXCEEDED', text);
    expect(Number(headers.get('retry-after'))).to.be.within(DAY_S - 60, DAY_S);
    expect((await ask(rooms[0])).status, 'a room that exists').to.equal(200);
    expect((await ask(rooms[2], await member())).status, 'of another member').to.equal(200);
    await server.drain();
  });

  it('does not count a room that could not be stored', async () => {
    const failing = () => {
      throw new Error('the database fails');
    };
    const room = await newRoom();
    for (let i = 0; i < 3; i += 1) {
      const failed = meanwhile('before', [Room, 'insertOne'], failing, () => open(room));
      expect(await failed.catch((error) => error.message)).to.equal('the database fails');
    }
    await open(room);
    await open(await newRoom());
    expect(await refusal()).to.equal('QUOTA_EXCEEDED');
  });

  it('does not count a room that another call has opened meanwhile', async () => {
    const { domain } = await service();
    const room = await newRoom();
    const elsewhere = () => domain.chat.createRoom(asker.actor, room);
    const chatNo = await meanwhile('before', [Room, 'insertOne'], elsewhere, () => open(room));
    expect(chatNo).to.equal(await elsewhere());
    await open(await newRoom());
    await open(await newRoom());
    expect(await refusal()).to.equal('QUOTA_EXCEEDED');
  });
});
