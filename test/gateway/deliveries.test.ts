import { expect } from 'chai';
import { Adapter } from 'socket.io-adapter';
import type { Domain } from '../../domain/domain.js';
import { metrics } from '../../domain/platform/metrics.js';
import { emitHere, interceptDeliveries } from '../../gateway/deliveries.js';
import type { RoomNews } from '../../gateway/room-news.js';
import type { Sequencer } from '../../gateway/sequencer.js';

const message = { id: 'm1', chatNo: 7, seq: 1 };
const read = { chatNo: 7, memberNo: 3, seq: 1 };
const presence = { chatNo: 7, memberNo: 3, present: true };
const view = { chatNo: 7, unReadCount: 0 };
const mark = { seq: 1, read: 0 };
const position = { memberNo: 3, seq: 1, others: 5 };

const malformed = async () =>
  (await metrics.pushesDropped.get()).values.find(({ labels }) => labels.reason === 'malformed')?.value ?? 0;

type Options = Parameters<Adapter['broadcast']>[1];

describe('deliveries to the sockets of a process', () => {
  const original = Adapter.prototype.broadcast;
  /** In order: who was asked, and what was delivered. */
  let log: unknown[][];
  /** Whether that look for long-polling sockets was to be made, and by which adapter. */
  let looked: boolean[];
  let adapters: Adapter[];
  let adapter: Adapter;
  let polling: number;
  let isNews: boolean;

  beforeEach(() => {
    log = [];
    looked = [];
    adapters = [];
    polling = 0;
    isNews = true;
    Adapter.prototype.broadcast = function ({ data }, opts) {
      adapters.push(this);
      log.push(['delivered', [...opts.rooms].join(), ...((data as unknown[] | undefined) ?? [])]);
      (this as unknown as { apply(opts: Options): void }).apply(opts);
    };
    adapter = Object.create(Adapter.prototype, {
      rooms: { value: new Map([['member:3', new Set(['socket'])]]) },
      apply: { value: () => looked.push(true) },
    });
    const deliverNow =
      (name: string, count: number) =>
      (...args: unknown[]) => {
        log.push([name, ...args.slice(0, count)]);
        (args[count] as () => void)();
      };
    const heard =
      (name: string) =>
      (...args: unknown[]) => {
        log.push([name, ...args]);
        return isNews;
      };
    interceptDeliveries(
      {
        chat: { heard: heard('chat heard'), heardPresence: heard('chat heard presence') },
        notifications: { acceptPush: heard('notifications heard') },
      } as unknown as Domain,
      {
        offer: deliverNow('message offered', 1),
        offerRead: deliverNow('read offered', 2),
        offerPresence: deliverNow('presence offered', 1),
      } as unknown as Sequencer,
      { offer: deliverNow('room offered', 3) } as unknown as RoomNews,
      () => polling,
    );
  });
  afterEach(() => {
    Adapter.prototype.broadcast = original;
  });

  function broadcast(room: string, data: unknown[], more: Partial<Options> = {}): void {
    const packet = { type: 2, data };
    adapter.broadcast(packet, { rooms: new Set([room]), except: new Set(), flags: {}, ...more });
  }

  const passing: [event: string, room: string, data: unknown[], expected: unknown[][]][] = [
    [
      'message',
      'room:7',
      ['message', message],
      [
        ['message offered', message],
        ['chat heard', message],
        ['delivered', 'room:7', 'message', message],
      ],
    ],
    [
      'message:read',
      'room:7',
      ['message:read', read, 5],
      [
        ['read offered', 7, position],
        ['delivered', 'room:7', 'message:read', read],
      ],
    ],
    [
      'presence',
      'room:7',
      ['presence', presence, 9],
      [
        ['chat heard presence', 7, 3, true, 9],
        ['presence offered', 7],
        ['delivered', 'room:7', 'presence', presence],
      ],
    ],
    [
      'room',
      'member:3',
      ['room', view, mark],
      [
        ['room offered', 3, 7, mark],
        ['delivered', 'member:3', 'room', view],
      ],
    ],
    [
      'notification',
      'member:3',
      ['notification', { id: 4 }],
      [
        ['notifications heard', 4],
        ['delivered', 'member:3', 'notification', { id: 4 }],
      ],
    ],
    ['typing', 'room:7', ['typing', read], [['delivered', 'room:7', 'typing', read]]],
  ];
  for (const [event, room, data, expected] of passing) {
    it(`pass ${event} on through who puts it in order, and bare of what is for gateways alone`, () => {
      broadcast(room, data);
      expect(log).to.deep.equal(expected);
    });
  }

  it('pass what has no data, as a broken process may publish it', () => {
    adapter.broadcast({ type: 1 } as never, { rooms: new Set(['x']), except: new Set() });
    adapter.broadcast({ type: 2, data: [] } as never, { rooms: new Set(['y']) } as never);
    expect(log.map(([, room]) => room)).to.deep.equal(['x', 'y']);
  });

  it('pass what was put in order here as it is; presence waits for joins that are under way', () => {
    const local = { flags: { local: true } };
    for (const data of [
      ['message', message],
      ['message:read', read],
      ['room', view],
      ['notification', { id: 4 }],
    ]) {
      broadcast('room:7', data, local);
    }
    broadcast('room:7', ['presence', presence], local);
    expect(log.map(([what]) => what)).to.deep.equal([
      ...['delivered', 'delivered', 'delivered', 'delivered'],
      ...['presence offered', 'delivered'],
    ]);
  });

  it('leave out a notification and a change of presence that are known', () => {
    isNews = false;
    broadcast('member:3', ['notification', { id: 4 }]);
    broadcast('room:7', ['presence', presence, 9]);
    expect(log.map(([what]) => what)).to.deep.equal(['notifications heard', 'chat heard presence']);
  });

  const broken: [room: string, data: unknown[]][] = [
    ['room:7', ['message']],
    ['room:7', ['message', null]],
    ['room:7', ['message', { ...message, id: 1 }]],
    ['room:7', ['message', { ...message, chatNo: '7' }]],
    ['room:7', ['message', { ...message, seq: 1.5 }]],
    ['room:7', ['message:read', null, 5]],
    ['room:7', ['message:read', read]],
    ['room:7', ['message:read', { ...read, chatNo: '7' }, 5]],
    ['room:7', ['message:read', { ...read, memberNo: null }, 5]],
    ['room:7', ['message:read', { ...read, seq: '1' }, 5]],
    ['room:7', ['presence', null, 9]],
    ['room:7', ['presence', presence]],
    ['room:7', ['presence', { ...presence, present: 1 }, 9]],
    ['room:7', ['presence', { ...presence, chatNo: '7' }, 9]],
    ['room:7', ['presence', { ...presence, memberNo: '3' }, 9]],
    ['member:3', ['room', null, mark]],
    ['member:3', ['room', view]],
    ['member:3', ['room', { chatNo: '7' }, mark]],
    ['member:3', ['room', view, { seq: 1 }]],
    ['member:3', ['room', view, { read: 0 }]],
    ['room:7', ['room', view, mark]],
  ];
  for (const [room, data] of broken) {
    it(`drop and count ${JSON.stringify(data)} to ${room}`, async () => {
      const before = await malformed();
      broadcast(room, data);
      expect(log).to.deep.equal([]);
      expect(await malformed()).to.equal(before + 1);
    });
  }

  it('to no room in particular drop a room’s state', () => {
    broadcast('', ['room', view, mark], { rooms: new Set() });
    expect(log).to.deep.equal([]);
  });

  it('look for long-polling sockets only where there are some, or nothing is published', () => {
    const typing = ['typing', read];
    broadcast('room:7', typing);
    broadcast('room:7', typing, { except: undefined as never });
    expect(looked, 'none').to.deep.equal([]);
    expect(adapters[1], 'made once').to.equal(adapters[0]);
    broadcast('room:7', typing, { except: new Set(['socket']) });
    broadcast('', typing, { rooms: new Set(['room:7', 'room:8']) });
    expect(looked).to.have.length(2);
    polling = 1;
    broadcast('room:7', typing);
    expect(looked).to.have.length(3);
    expect(adapters.slice(2)).to.deep.equal([adapter, adapter, adapter]);
  });

  it('of an event to a room that nobody here is in cost nothing', () => {
    emitHere(adapter, 'member:4', 'notification', { id: 4 });
    expect(log).to.deep.equal([]);
    emitHere(adapter, 'member:3', 'notification', { id: 4 });
    expect(log).to.deep.equal([['delivered', 'member:3', 'notification', { id: 4 }]]);
  });
});
