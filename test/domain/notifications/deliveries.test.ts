import { mock } from 'node:test';
import { expect } from 'chai';
import { systemClock } from '../../../domain/kernel/clock.js';
import { createEventBus } from '../../../domain/kernel/events.js';
import { type NotificationView, noLive } from '../../../domain/kernel/live.js';
import { createLocalDateTime } from '../../../domain/kernel/local-date-time.js';
import type { MemberDirectory } from '../../../domain/members/index.js';
import { createNotifications, type Notifications } from '../../../domain/notifications/index.js';
import { Notification } from '../../../domain/notifications/notification.model.js';
import { createLogger } from '../../../domain/platform/logger.js';
import { metrics } from '../../../domain/platform/metrics.js';
import { nextNumbers } from '../../../domain/platform/sequence.model.js';
import { eventually } from '../../support/eventually.js';
import { service } from '../../support/service.js';

/** A member of no account: a notification needs no more than their number. */
let memberNo = 870_000_000;

/** Notifications of one process of its own, with what has reached its sockets and its streams. */
async function openProcess() {
  const { domain } = await service();
  const sockets: number[] = [];
  const streams: number[] = [];
  /** Called before names are looked up: the database answers late, or not at all. */
  let beforeLookUp = async () => {};
  const directory: MemberDirectory = {
    ...domain.members.directory,
    async lookUp(numbers) {
      await beforeLookUp();
      return domain.members.directory.lookUp(numbers);
    },
  };
  const notifications: Notifications = createNotifications({
    ...{ clock: systemClock, events: createEventBus(), directory, logger: createLogger('silent', 'test') },
    localTime: createLocalDateTime('UTC'),
    live: {
      ...noLive,
      // As the gateway does, which others may have been faster than.
      notification: (_, { id }: NotificationView) => {
        if (notifications.acceptPush(id)) sockets.push(id);
      },
      notificationHere: (_, { id }: NotificationView) => {
        sockets.push(id);
      },
    },
  });
  notifications.subscribe(memberNo, ({ view }) => streams.push(view.id));
  await notifications.startPoll();
  return {
    ...{ notifications, sockets, streams },
    notify: (content: string) =>
      notifications.notify({
        ...{ memberNo, type: 'note', content, url: '/note/1', originNo: 0, cause: content },
      }),
    onLookUp(before: typeof beforeLookUp) {
      beforeLookUp = before;
    },
  };
}

type Process = Awaited<ReturnType<typeof openProcess>>;

/** A promise, and what resolves it. */
function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

describe('a notification on its way', () => {
  let here: Process;
  let lastN: number;

  beforeEach(async () => {
    await service();
    mock.timers.enable({ apis: ['setInterval'] });
    memberNo += 1;
    lastN = 0;
    here = await openProcess();
  });
  afterEach(async () => {
    await here.notifications.close();
    mock.timers.reset();
  });

  /** Stores one as another process does. @returns its number */
  async function storeElsewhere(): Promise<number> {
    const _id = await nextNumbers('notification');
    lastN += 1;
    await Notification.collection.insertOne({
      ...{ _id: _id as never, memberNo, n: lastN, cause: `elsewhere:${_id}`, content: 'hello' },
      ...{ type: 'note', url: '/note/1', originNo: 0, checked: false, deleted: false },
      publishedAt: new Date(),
    });
    return _id;
  }

  const look = () => mock.timers.tick(5_000);

  /** Looks until one that is stored last is found, and so everything before it. */
  async function lookForAll(): Promise<number> {
    const last = await storeElsewhere();
    look();
    await eventually(() => expect(here.sockets).to.include(last));
    return last;
  }

  it('reaches sockets and streams at once, is counted by its kind, and is not found again', async () => {
    const stored = async () =>
      (await metrics.notificationsStored.get()).values.find(({ labels }) => labels.type === 'note')?.value ??
      0;
    const before = await stored();
    expect(await here.notify('once')).to.equal(true);
    const told = [...here.sockets];
    expect(told).to.have.length(1);
    expect(here.streams).to.deep.equal(told);
    expect(await here.notify('once'), 'its cause has notified').to.equal(false);
    expect((await stored()) - before).to.equal(1);
    lastN = 1;
    const reads = mock.method(Notification.collection, 'aggregate');
    const last = await lookForAll();
    const read = reads.mock.calls.flatMap(({ arguments: [stages] }) => {
      const [{ $match }] = stages as unknown as [{ $match: { _id?: { $in?: number[] } } }];
      return $match._id?.$in ?? [];
    });
    reads.mock.restore();
    expect(read).to.deep.equal([last]);
    expect(here.sockets).to.deep.equal([...told, last]);
    expect(here.streams).to.deep.equal([...told, last]);
  });

  it('that could not be delivered is found a little later', async () => {
    here.onLookUp(async () => {
      throw new Error('the database is away');
    });
    expect(await here.notify('stored all the same')).to.equal(true);
    expect(here.sockets).to.deep.equal([]);
    here.onLookUp(async () => {});
    lastN = 1;
    const last = await lookForAll();
    expect(here.sockets).to.have.length(2);
    expect(here.streams).to.deep.equal(here.sockets);
    expect(here.sockets[1]).to.equal(last);
  });

  it('whose push comes after it was found is not shown again', async () => {
    const id = await storeElsewhere();
    await lookForAll();
    expect(here.notifications.acceptPush(id), 'pushed late').to.equal(false);
    expect(here.notifications.acceptPush(id), 'and repeated').to.equal(false);
  });

  it('whose push has come is not found again, however many came after it', async () => {
    const id = await storeElsewhere();
    // As many as are remembered.
    for (let i = 0; i < 50_000; i += 1) here.notifications.acceptPush(id - i);
    const last = await lookForAll();
    expect(here.sockets).to.deep.equal([last]);
    expect(here.streams).to.deep.equal([last]);
  });

  it('whose push comes while it is read is not shown again', async () => {
    const id = await storeElsewhere();
    const [reading, pushed] = [gate(), gate()];
    here.onLookUp(() => {
      reading.open();
      return pushed.opened;
    });
    look();
    await reading.opened;
    expect(here.notifications.acceptPush(id)).to.equal(true);
    pushed.open();
    const last = await lookForAll();
    expect(here.sockets).to.deep.equal([last]);
  });

  it('that is found before its own process has delivered it is shown once', async () => {
    const [delivering, found] = [gate(), gate()];
    here.onLookUp(() => {
      here.onLookUp(async () => {});
      delivering.open();
      return found.opened;
    });
    const notified = here.notify('slow to go out');
    await delivering.opened;
    lastN = 1;
    await lookForAll();
    found.open();
    await notified;
    expect(here.sockets).to.have.length(2);
    expect(new Set(here.sockets).size).to.equal(2);
  });

  it('is not looked for any more once its process has closed, which waits for what is under way', async () => {
    const first = await storeElsewhere();
    const [reading, answered] = [gate(), gate()];
    here.onLookUp(() => {
      reading.open();
      return answered.opened;
    });
    look();
    await reading.opened;
    let isClosed = false;
    const closed = here.notifications.close().then(() => {
      isClosed = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(isClosed).to.equal(false);
    answered.open();
    await closed;
    expect(here.sockets).to.deep.equal([first]);
    const reads = mock.method(Notification.collection, 'aggregate');
    look();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(reads.mock.callCount()).to.equal(0);
    reads.mock.restore();
  });

  it('is stored before its process has closed, and goes to no stream after that', async () => {
    const notified = here.notify('at the last moment');
    await here.notifications.close();
    expect(await Notification.countDocuments({ memberNo })).to.equal(1);
    expect(await notified).to.equal(true);
    const told = here.streams.length;
    await here.notify('later still');
    expect(here.streams).to.have.length(told);
  });
});
