import { expect } from 'chai';
import type { NotificationView as Record } from '../../../domain/kernel/live.js';
import { Notification } from '../../../domain/notifications/notification.model.js';
import { member } from '../../support/api.js';
import { listedWith, openRoom, pushTo } from '../../support/chat.js';
import { interceptCalls } from '../../support/database-calls.js';
import { notify, writeElsewhere } from '../../support/notifications.js';

describe('notifications over REST', () => {
  it('list exactly the documented fields, newest first, only the latest of each chat', async () => {
    const { author, asker, chatNo, saleNo } = await openRoom();
    await notify(author, 'first');
    for (const content of ['one', 'two']) await pushTo({ chatNo, saleNo }, asker, content);
    const body = await listedWith<Record>(author, 'two');
    expect(body.map(({ content }) => content)).to.deep.equal(['two', 'first']);
    expect(body[0]).to.deep.equal({
      id: body[0]?.id,
      type: 'chat',
      content: 'two',
      url: `/chat/${chatNo}?adoptId=${saleNo}`,
      publishedAt: body[0]?.publishedAt,
      name: asker.nickname,
      checked: false,
      del: false,
    });
    const [year, month, day, hour, minute, second] = body[0]?.publishedAt ?? [];
    const utc = Date.UTC(year as number, (month as number) - 1, day, hour, minute, second);
    expect(utc).to.be.closeTo(Date.now(), 60_000);
  });

  it('41: are marked read and deleted by their member only', async () => {
    const [owner, other] = [await member(), await member()];
    const [a, b, c] = [await notify(owner, 'a'), await notify(owner, 'b'), await notify(owner, 'c')];
    expect((await other.patch(`/notification/checked/${a.id}`)).status).to.equal(404);
    expect((await owner.patch(`/notification/checked/${a.id}`)).body).to.deep.equal({ status: 200 });
    const foreign = await notify(other, 'foreign');
    expect((await owner.post('/notification', { idList: [b.id, foreign.id] })).status).to.equal(404);
    expect((await owner.get<Record[]>('/notification/all')).body).to.have.length(3);
    expect((await owner.post('/notification', { idList: [b.id, b.id, c.id] })).body).to.deep.equal({
      status: 200,
    });
    const left = await owner.get<Record[]>('/notification/all');
    expect(left.body).to.deep.equal([{ ...a, checked: true }]);
    expect((await owner.post('/notification', { idList: [] })).body).to.deep.equal({ status: 200 });
    expect((await owner.post('/notification', { idList: [`${a.id}`] })).body).to.deep.equal({ status: 200 });
    expect((await owner.get<Record[]>('/notification/all')).body).to.deep.equal([]);
    const many = Array.from({ length: 1_001 }, (_, i) => 900_000_000 + i);
    expect((await owner.post('/notification', { idList: many })).status).to.equal(400);
    const asMany = await owner.post<{ message: string; errors: string[] }>('/notification', {
      idList: many.slice(1),
    });
    expect([asMany.status, asMany.body.message]).to.deep.equal([404, 'NOTIFICATION_NOT_FOUND']);
    expect(asMany.body.errors, 'the first of those that are missing').to.deep.equal(
      many.slice(1, 11).map((id) => `idList: notification ${id} does not exist`),
    );
    expect((await owner.patch(`/notification/checked/${b.id}`)).status, 'deleted').to.equal(404);
  });

  it('of a chat are deleted with the older ones of the room, so that none of them reappears', async () => {
    const { author, asker, chatNo, saleNo } = await openRoom();
    for (const content of ['one', 'two']) await pushTo({ chatNo, saleNo }, asker, content);
    const body = await listedWith<Record>(author, 'two');
    await author.post('/notification', { idList: body.map(({ id }) => id) });
    expect((await author.get<Record[]>('/notification/all')).body).to.deep.equal([]);
  });

  it('of a chat are read and deleted up to the named one, in its room only', async () => {
    const [who, peer] = [await member(), await member()];
    const chats = [1, 2, 1, 2, 1];
    const notices = [who, peer].flatMap(({ no }) =>
      chats.map((chatNo, i) => ({ memberNo: no, n: i + 1, content: '', chatNo })),
    );
    const firstId = await writeElsewhere(notices);
    const numbers = async (filter: object, { no } = who) =>
      (
        await Notification.find({ memberNo: no, ...filter })
          .sort({ n: 1 })
          .lean()
      ).map(({ n }) => n);
    await who.patch(`/notification/checked/${firstId + 2}`);
    expect(await numbers({ checked: true })).to.deep.equal([1, 3]);
    await who.post('/notification', { idList: [firstId + 3] });
    expect(await numbers({ deleted: true })).to.deep.equal([2, 4]);
    expect((await who.get<Record[]>('/notification/all')).body.map(({ id }) => id)).to.deep.equal([
      firstId + 4,
    ]);
    const changed = { $or: [{ checked: true }, { deleted: true }] };
    expect(await numbers(changed, peer), 'the other member of these rooms has theirs').to.deep.equal([]);
  });

  it('show the latest thousand, counting those of a busy chat as one', async () => {
    const who = await member();
    const notices = Array.from({ length: 1_200 }, (_, i) => ({
      ...{ memberNo: who.no, n: i + 1, content: `${i + 1}` },
      ...(i >= 1_100 ? { chatNo: 1 } : {}),
    }));
    await writeElsewhere(notices);
    const contents = (await who.get<Record[]>('/notification/all')).body.map(({ content }) =>
      Number(content),
    );
    expect(contents).to.deep.equal([1_200, ...Array.from({ length: 999 }, (_, i) => 1_100 - i)]);
  });

  it('are read a thousand at a time, no more than are shown, and of a chat no more after that', async () => {
    let read = 0;
    let memberNo = 0;
    // The service polls, too, for all members.
    const stop = interceptCalls([Notification], async (_, call, run, filter) => {
      const answer = await run();
      if (call === 'find' && (filter as { memberNo?: number }).memberNo === memberNo)
        read += (answer as object[]).length;
      return answer;
    });
    /** @param chatNo of all but the first two */
    async function listOf3000(chatNo: { chatNo?: number }): Promise<string[]> {
      const who = await member();
      const notices = Array.from({ length: 3_000 }, (_, i) => ({
        ...{ memberNo: who.no, n: i + 1, content: `${i + 1}` },
        ...(i < 2 ? {} : chatNo),
      }));
      await writeElsewhere(notices);
      read = 0;
      memberNo = who.no;
      return (await who.get<Record[]>('/notification/all')).body.map(({ content }) => content);
    }
    expect(await listOf3000({ chatNo: 1 })).to.deep.equal(['3000', '2', '1']);
    expect(read, 'with the last number').to.equal(1_003);
    expect(await listOf3000({})).to.have.length(1_000);
    expect(read, 'with the last number').to.equal(1_001);
    stop();
  });

  it('are listed from the last ten thousand, deleted ones included', async () => {
    const who = await member();
    const notices = Array.from({ length: 10_001 }, (_, i) => ({
      ...{ memberNo: who.no, n: i + 1, content: `${i + 1}` },
      deleted: i >= 2,
    }));
    await writeElsewhere(notices);
    const { body } = await who.get<Record[]>('/notification/all');
    expect(body.map(({ content }) => content)).to.deep.equal(['2']);
  });
});
