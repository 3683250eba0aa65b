import { expect } from 'chai';
import { systemClock } from '../../../domain/kernel/clock.js';
import { createEventBus, type DomainEvents } from '../../../domain/kernel/events.js';
import { Notification } from '../../../domain/notifications/notification.model.js';
import { Notifier } from '../../../domain/notifications/notifier.js';
import { notifyOnEvents } from '../../../domain/notifications/notify-on-events.js';
import { service } from '../../support/service.js';

/** Members without a record: a notification needs only the number. */
let memberNo = 890_000_000;
const OTHER = 889_999_999;

describe('domain events', () => {
  const events = createEventBus();
  const notifier = new Notifier(systemClock, async () => {});
  notifyOnEvents(events, (notification) => notifier.notify(notification));

  beforeEach(async () => {
    await service();
    memberNo += 1;
  });

  const comment = (over: Partial<DomainEvents['comment.created']> = {}) =>
    events.publish('comment.created', {
      commentId: 1,
      articleId: 2,
      authorNo: OTHER,
      recipientNo: memberNo,
      kind: 'comment',
      context: 'well said',
      ...over,
    });
  const leading = (over: Partial<DomainEvents['article.leading']> = {}) =>
    events.publish('article.leading', {
      articleId: 2,
      authorNo: memberNo,
      title: 'A title',
      window: 'hot',
      ...over,
    });
  const message = (over: Partial<DomainEvents['message.unannounced']> = {}) =>
    events.publish('message.unannounced', {
      messageId: 'm1',
      chatNo: 3,
      saleNo: 4,
      senderNo: OTHER,
      recipientNo: memberNo,
      content: 'hello',
      contentType: 'text',
      ...over,
    });

  /** The member's notifications, in order. */
  const notified = async () =>
    (await Notification.find({ memberNo }).sort({ n: 1 }).lean()).map(
      ({ n, type, content, url, originNo, chatNo }) => [n, type, content, url, originNo, chatNo],
    );

  it('notify once, however often they are published', async () => {
    const publishAll = async () => {
      await comment();
      await comment({ commentId: 5, kind: 'recomment', context: 'and so are you' });
      await leading();
      await leading({ window: 'weekly' });
      await message();
    };
    await publishAll();
    await publishAll();
    await Promise.all([publishAll(), publishAll()]);
    expect(await notified()).to.deep.equal([
      [1, 'comment', 'well said', '/board/2', OTHER, undefined],
      [2, 'recomment', 'and so are you', '/board/2', OTHER, undefined],
      [3, 'documentHot', 'A title', '/board/2', 0, undefined],
      [4, 'documentWeek', 'A title', '/board/2', 0, undefined],
      [5, 'chat', 'hello', '/chat/3?adoptId=4', OTHER, 3],
    ]);
  });

  it('notify each time, even for the same article, room or text', async () => {
    for (const commentId of [1, 5]) await comment({ commentId });
    for (const articleId of [2, 3]) await leading({ articleId });
    for (const messageId of ['m1', 'm2']) await message({ messageId });
    expect((await notified()).map(([n, type]) => [n, type])).to.deep.equal([
      [1, 'comment'],
      [2, 'comment'],
      [3, 'documentHot'],
      [4, 'documentHot'],
      [5, 'chat'],
      [6, 'chat'],
    ]);
  });

  it('do not notify members of their own actions', async () => {
    await comment({ authorNo: memberNo });
    expect(await notified()).to.deep.equal([]);
  });

  it('show a placeholder for content that is not text', async () => {
    const stands = { text: '/a.png', image: '[image]', picture: '[picture]', coords: '[location]' };
    for (const contentType of Object.keys(stands)) {
      await message({ messageId: contentType, contentType, content: '/a.png' });
    }
    expect((await notified()).map(([, , content]) => content)).to.deep.equal(Object.values(stands));
  });
});

describe('the indexes of notifications', () => {
  it('refuse a member’s number or cause the second time, and no other member’s', async () => {
    await service();
    const [one, two] = [memberNo + 1, memberNo + 2];
    memberNo += 2;
    const store = (no: number, n: number, cause: string) =>
      Notification.collection
        .insertOne({ _id: `${no} ${n} ${cause}` as never, memberNo: no, n, cause })
        .then(() => 'stored')
        .catch(({ code }: { code: number }) => code);
    expect(await store(one, 1, 'a')).to.equal('stored');
    expect(await store(one, 1, 'b')).to.equal(11_000);
    expect(await store(one, 2, 'a')).to.equal(11_000);
    expect(await store(one, 2, 'b')).to.equal('stored');
    expect(await store(two, 1, 'a')).to.equal('stored');
    // Their ids are not numbers: other tests must not find them.
    await Notification.collection.deleteMany({ memberNo: { $in: [one, two] } });
  });
});
