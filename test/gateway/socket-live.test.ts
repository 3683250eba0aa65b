import { expect } from 'chai';
import { Adapter } from 'socket.io-adapter';
import type { MessagePayload, NotificationView, RoomView } from '../../domain/kernel/live.js';
import { metrics } from '../../domain/platform/metrics.js';
import type { GatewayServer } from '../../gateway/socket.js';
import { SocketLive } from '../../gateway/socket-live.js';

const message = { id: 'm1', chatNo: 7, seq: 1 };
const read = { chatNo: 7, memberNo: 3, seq: 1 };
const presence = { chatNo: 7, memberNo: 3, present: true };
const view = { chatNo: 7, unReadCount: 0 };
const mark = { seq: 1, read: 0 };
const position = { memberNo: 3, seq: 1, others: 5 };

const malformed = async () =>
  (await metrics.pushesDropped.get()).values.find(({ labels }) => labels.reason === 'malformed')?.value ?? 0;

type Options = Parameters<Adapter['broadcast']>[1];

describe('pushes to the sockets of a process', () => {
  const original = Adapter.prototype.broadcast;
  /** What was called and what was delivered, in order. */
  let log: unknown[][];
  let adapter: Adapter;
  let isNews: boolean;

  /** A port over an adapter that connects several processes, or none. */
  function serve(shared: boolean): SocketLive {
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
    const io = { of: () => ({ adapter }) } as unknown as Pick<GatewayServer, 'of'>;
    const live = new SocketLive(io, shared);
    live.serve({
      chat: { noteMessage: heard('chat heard'), acceptPresence: heard('chat heard presence') },
      notifications: { acceptPush: heard('notifications heard') },
      sequencer: {
        offer: deliverNow('message offered', 1),
        offerRead: deliverNow('read offered', 2),
        offerPresence: deliverNow('presence offered', 1),
      },
      views: { offer: deliverNow('room offered', 3) },
      publisher: { event: (...event) => void log.push(['delivered', ...event]) },
    });
    return live;
  }

  beforeEach(() => {
    log = [];
    isNews = true;
    Adapter.prototype.broadcast = ({ data }, { rooms }) => {
      log.push(['passed', [...rooms].join(), ...((data as unknown[] | undefined) ?? [])]);
    };
    adapter = Object.create(Adapter.prototype);
    serve(true);
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
    it(`deliver ${event} in its order, without the note for gateways`, () => {
      broadcast(room, data);
      expect(log).to.deep.equal(expected);
    });
  }

  it('pass packets without data, which a broken process may publish', () => {
    adapter.broadcast({ type: 1 } as never, { rooms: new Set(['x']), except: new Set() });
    adapter.broadcast({ type: 2, data: [] } as never, { rooms: new Set(['y']) } as never);
    expect(log.map(([, room]) => room)).to.deep.equal(['x', 'y']);
  });

  it('pass events flagged as local', () => {
    for (const data of [
      ['message', message],
      ['message:read', read],
      ['presence', presence],
      ['room', view],
      ['notification', { id: 4 }],
    ]) {
      broadcast('room:7', data, { flags: { local: true } });
    }
    expect(log.map(([what]) => what)).to.deep.equal(Array(5).fill('passed'));
  });

  it('to this process only follow joins under way', () => {
    const live = serve(true);
    live.presenceHere(7, 3, true);
    live.notificationHere(3, { id: 4 } as NotificationView);
    expect(log).to.deep.equal([
      ['presence offered', 7],
      ['delivered', 'room:7', 'presence', presence],
      ['delivered', 'member:3', 'notification', { id: 4 }],
    ]);
  });

  for (const shared of [true, false]) {
    it(`of the domain are delivered once, ${shared ? 'through the bus' : 'at once by a process that is alone'}`, () => {
      const live = serve(shared);
      live.message(message as MessagePayload);
      live.messageRead(7, position);
      live.presence(7, 3, true, 9);
      live.typing(7, 3, true);
      live.room(3, view as RoomView, mark);
      live.notification(3, { id: 4 } as NotificationView);
      expect(log).to.deep.equal([
        ['message offered', message],
        ...(shared ? [['chat heard', message]] : []),
        ['delivered', 'room:7', 'message', message],
        ['read offered', 7, position],
        ['delivered', 'room:7', 'message:read', read],
        ['chat heard presence', 7, 3, true, 9],
        ['presence offered', 7],
        ['delivered', 'room:7', 'presence', presence],
        ['delivered', 'room:7', 'typing', { chatNo: 7, memberNo: 3, typing: true }],
        ['room offered', 3, 7, mark],
        ['delivered', 'member:3', 'room', view],
        ['notifications heard', 4],
        ['delivered', 'member:3', 'notification', { id: 4 }],
      ]);
    });
  }

  it('drop known notifications and changes of presence', () => {
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
    ['member:3', ['notification', null]],
  ];
  for (const [room, data] of broken) {
    it(`drop and count ${JSON.stringify(data)} to ${room}`, async () => {
      const before = await malformed();
      broadcast(room, data);
      expect(log).to.deep.equal([]);
      expect(await malformed()).to.equal(before + 1);
    });
  }

  it('drop a room’s state that is sent to no room', () => {
    broadcast('', ['room', view, mark], { rooms: new Set() });
    expect(log).to.deep.equal([]);
  });
});
