import { mock } from 'node:test';
import { expect } from 'chai';
import type { Actor } from '../../../domain/kernel/actor.js';
import { systemClock } from '../../../domain/kernel/clock.js';
import { createEventBus } from '../../../domain/kernel/events.js';
import { type NotificationView, noLive } from '../../../domain/kernel/live.js';
import { createLocalDateTime } from '../../../domain/kernel/local-date-time.js';
import type { MemberDirectory } from '../../../domain/members/index.js';
import { createNotifications, type Notifications } from '../../../domain/notifications/index.js';
import { Notification } from '../../../domain/notifications/notification.model.js';
import { createLogger } from '../../../domain/platform/observe/logger.js';
import { metrics } from '../../../domain/platform/observe/metrics.js';
import { eventually, gate, sleep } from '../../support/eventually.js';
import { writeElsewhere } from '../../support/notifications.js';
import { service } from '../../support/service.js';

/** A member without a record: a notification needs only the number. */
let memberNo = 870_000_000;

/** The notifications of one process, and what has reached its sockets and streams. */
async function openProcess() {
  const { domain } = await service();
  const sockets: number[] = [];
  const streams: number[] = [];
  /** Whether the member has a socket here. */
  let hasSocket = false;
  /** Called before names are looked up: makes the database slow, or fail. */
  let beforeLookUp = async () => {};
  const directory: MemberDirectory = {
    ...domain.members.directory,
    async lookUp(numbers) {
      await beforeLookUp();
      return domain.members.directory.lookUp(numbers);
    },
  };
  const notifications: Notifications = createNotifications({
    clock: systemClock,
    events: createEventBus(),
    directory,
    logger: createLogger('silent', 'test'),
    localTime: createLocalDateTime('UTC'),
    live: {
      ...noLive,
      // As the gateway does.
      notification: (_, { id }: NotificationView) => {
        if (notifications.acceptPush(id)) sockets.push(id);
      },
      notificationHere: (_, { id }: NotificationView) => {
        sockets.push(id);
        return hasSocket;
      },
    },
  });
  // As a stream does.
  notifications.subscribe(memberNo, ({ view }) => {
    const isNew = !streams.includes(view.id);
    streams.push(view.id);
    return isNew;
  });
  await notifications.startPoll();
  return {
    notifications,
    sockets,
    streams,
    notify: (content: string) =>
      notifications.notify({ memberNo, type: 'note', content, url: '/note/1', originNo: 0, cause: content }),
    openSocket() {
      hasSocket = true;
    },
    onLookUp(before: typeof beforeLookUp) {
      beforeLookUp = before;
    },
  };
}

type Process = Awaited<ReturnType<typeof openProcess>>;

describe('a notification', () => {
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

  /** Stores a notification as another process does. @returns its id */
  const storeElsewhere = () => writeElsewhere([{ memberNo, n: ++lastN }]);

  const poll = () => mock.timers.tick(5_000);

  /** Looks until one that is stored last is found, and so everything before it. */
  async function pollAll(): Promise<number> {
    const last = await storeElsewhere();
    poll();
    await eventually(() => expect(here.sockets).to.include(last));
    return last;
  }

  it('is counted as polled only for a member with a stream or socket here', async () => {
    const polled = async () => (await metrics.notificationsPolled.get()).values[0]?.value ?? 0;
    const before = await polled();
    await writeElsewhere([{ memberNo: memberNo + 500_000, n: 1 }]);
    await pollAll();
    expect((await polled()) - before, 'one of them is for a stream').to.equal(1);
    // A later one that the stream has received by its push.
    const pushed = await storeElsewhere();
    here.streams.push(pushed);
    poll();
    await eventually(() => expect(here.sockets).to.include(pushed));
    expect((await polled()) - before, 'received').to.equal(1);
    here.openSocket();
    const another = await storeElsewhere();
    here.streams.push(another);
    poll();
    await eventually(() => expect(here.sockets).to.include(another));
    expect((await polled()) - before, 'for a socket').to.equal(2);
  });

  it('that its member deletes before the poll finds it reaches nobody', async () => {
    const deleted = await storeElsewhere();
    await here.notifications.remove({ no: memberNo } as Actor, [deleted]);
    await pollAll();
    expect([...here.sockets, ...here.streams]).to.not.include(deleted);
  });

  it('reaches sockets and streams at once, is counted by type, and is not polled', async () => {
    const stored = async () =>
      (await metrics.notificationsStored.get()).values.find(({ labels }) => labels.type === 'note')?.value ??
      0;
    const before = await stored();
    expect(await here.notify('once')).to.equal(true);
    const told = [...here.sockets];
    expect(told).to.have.length(1);
    expect(here.streams).to.deep.equal(told);
    expect(await here.notify('once'), 'same cause').to.equal(false);
    expect((await stored()) - before).to.equal(1);
    lastN = 1;
    const reads = mock.method(Notification.collection, 'aggregate');
    const last = await pollAll();
    const read = reads.mock.calls.flatMap(({ arguments: [stages] }) => {
      const [{ $match }] = stages as unknown as [{ $match: { _id?: { $in?: number[] } } }];
      return $match._id?.$in ?? [];
    });
    reads.mock.restore();
    expect(read).to.deep.equal([last]);
    expect(here.sockets).to.deep.equal([...told, last]);
    expect(here.streams).to.deep.equal([...told, last]);
  });

  it('that could not be delivered is found by the poll', async () => {
    here.onLookUp(async () => {
      throw new Error('the database is away');
    });
    expect(await here.notify('stored all the same')).to.equal(true);
    expect(here.sockets).to.deep.equal([]);
    here.onLookUp(async () => {});
    lastN = 1;
    const last = await pollAll();
    expect(here.sockets).to.have.length(2);
    expect(here.streams).to.deep.equal(here.sockets);
    expect(here.sockets[1]).to.equal(last);
  });

  it('whose push arrives after the poll is not delivered again', async () => {
    const id = await storeElsewhere();
    await pollAll();
    expect(here.notifications.acceptPush(id), 'pushed late').to.equal(false);
    expect(here.notifications.acceptPush(id), 'and repeated').to.equal(false);
  });

  it('that is only announced is read without waiting for the next poll', async () => {
    const id = await storeElsewhere();
    here.notifications.pollSoon();
    here.notifications.pollSoon();
    await eventually(() => expect(here.sockets).to.deep.equal([id]));
    expect(here.streams).to.deep.equal([id]);
    // No interval passes here: only the next announcement can find it.
    const next = await storeElsewhere();
    here.notifications.pollSoon();
    await eventually(() => expect(here.sockets).to.deep.equal([id, next]));
  });

  it('whose push is repeated is delivered once', async () => {
    await here.notify('once');
    const [id] = here.sockets as [number];
    expect(here.notifications.acceptPush(id)).to.equal(false);
  });

  it('whose push has arrived is not polled, however many arrived after it', async () => {
    const id = await storeElsewhere();
    here.notifications.acceptPush(id);
    // An announcement to four million members, with higher numbers than the one that is stored next.
    for (let i = 0; i < 4_000_000; i += 1) here.notifications.acceptPush(1e9 + i);
    const last = await pollAll();
    expect(here.sockets).to.deep.equal([last]);
    expect(here.streams).to.deep.equal([last]);
  });

  it('whose push arrives while the poll reads it is not delivered again', async () => {
    const id = await storeElsewhere();
    const [reading, pushed] = [gate(), gate()];
    here.onLookUp(() => {
      reading.open();
      return pushed.opened;
    });
    poll();
    await reading.opened;
    expect(here.notifications.acceptPush(id)).to.equal(true);
    pushed.open();
    const last = await pollAll();
    expect(here.sockets).to.deep.equal([last]);
  });

  it('that the poll finds before its own process has delivered it is delivered once', async () => {
    const [delivering, found] = [gate(), gate()];
    here.onLookUp(() => {
      here.onLookUp(async () => {});
      delivering.open();
      return found.opened;
    });
    const notified = here.notify('slow to go out');
    await delivering.opened;
    lastN = 1;
    await pollAll();
    found.open();
    await notified;
    expect(here.sockets).to.have.length(2);
    expect(new Set(here.sockets).size).to.equal(2);
  });

  it('is not polled after close, which waits for the running poll', async () => {
    const first = await storeElsewhere();
    const [reading, answered] = [gate(), gate()];
    here.onLookUp(() => {
      reading.open();
      return answered.opened;
    });
    poll();
    await reading.opened;
    let isClosed = false;
    const closed = here.notifications.close().then(() => {
      isClosed = true;
    });
    await sleep(20);
    expect(isClosed).to.equal(false);
    answered.open();
    await closed;
    expect(here.sockets).to.deep.equal([first]);
    const reads = mock.method(Notification.collection, 'aggregate');
    poll();
    await sleep(20);
    expect(reads.mock.callCount()).to.equal(0);
    reads.mock.restore();
  });

  it('is stored before its process has closed, and reaches no stream after that', async () => {
    const notified = here.notify('at the last moment');
    await here.notifications.close();
    expect(await Notification.countDocuments({ memberNo })).to.equal(1);
    expect(await notified).to.equal(true);
    const told = here.streams.length;
    await here.notify('later still');
    expect(here.streams).to.have.length(told);
  });
});
