import { mock } from 'node:test';
import { expect } from 'chai';
import { Adapter } from 'socket.io-adapter';
import type { SocketBus } from '../../domain/platform/cluster/socket-adapter.js';
import { lostPushes } from '../../domain/platform/observe/lost-pushes.js';
import type { GatewayServer } from '../../gateway/connection/socket.js';
import { SocketLive } from '../../gateway/socket-live.js';
import { message, notification, presence, read, typing, view } from './examples.js';

const mark = { seq: 1, read: 0 };
const position = { memberNo: 3, seq: 1, others: 5 };

type Receive = Parameters<SocketBus['receive']>;

describe('a gateway’s live port', () => {
  const original = Adapter.prototype.broadcast;
  /** Calls and deliveries, in order. */
  let log: unknown[][];
  let adapter: Adapter;
  let isNews: boolean;
  /** The room of which messages are being stored. */
  /** Another process pushes something. */
  let push: Receive[1];
  let isHere: Receive[0];
  let drop: Receive[2];

  /** @param shared whether the adapter connects several processes */
  function serve(shared: boolean, isSigned = true): SocketLive {
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
    const bus = {
      adapter: undefined as never,
      isSigned,
      receive(...given: Receive) {
        [isHere, push, drop] = given;
      },
    };
    const live = new SocketLive(io, shared ? bus : undefined);
    live.serve({
      chat: {
        noteMessage: heard('chat heard'),
        acceptPresence: heard('chat heard presence'),
        checkPresence: heard('presence checked'),
      },
      notifications: { acceptPush: heard('notifications heard'), pollSoon: heard('poll soon') },
      sequencer: {
        offer(payload, deliver) {
          log.push(['message offered', payload]);
          deliver?.();
        },
        offerRead: deliverNow('read offered', 2),
        offerChange: deliverNow('change offered', 1),
      },
      views: {
        offer(memberNo, shown, shownMark, deliver) {
          log.push(['room offered', memberNo, shown, shownMark]);
          deliver(shown);
        },
        check: heard('room checked'),
      },
      comparer: { compareSoon: heard('compare soon'), compareMember: heard('compare member') },
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
    adapter = Object.assign(Object.create(Adapter.prototype), { rooms: new Map([['room:7', new Set()]]) });
    serve(true);
  });
  afterEach(() => {
    Adapter.prototype.broadcast = original;
    lostPushes.count(true);
  });

  /** The calls that an event causes before it is delivered. */
  const pushes: [room: string, data: [event: string, payload: object, note?: unknown], calls: unknown[][]][] =
    [
      [
        'room:7',
        ['message', message],
        [
          ['message offered', message],
          ['chat heard', message],
        ],
      ],
      ['room:7', ['message:read', read, 5], [['read offered', 7, position]]],
      [
        'room:7',
        ['presence', presence, 9],
        [
          ['chat heard presence', 7, 3, true, 9],
          ['change offered', 7],
        ],
      ],
      [
        'member:3',
        ['room', view, mark],
        [
          ['change offered', 7],
          ['room offered', 3, view, mark],
        ],
      ],
      ['member:3', ['notification', notification], [['notifications heard', 4]]],
      ['room:7', ['typing', typing], []],
    ];
  for (const [room, data, calls] of pushes) {
    const [event, payload] = data;
    it(`delivers \`${event}\` in its order, without the note for gateways`, () => {
      push(room, data);
      expect(log).to.deep.equal([...calls, ['delivered', room, event, payload]]);
    });
  }

  it('has lost pushes counted where they are shown', () => {
    for (const [shared, isSigned, counts] of [
      [true, true, true],
      [true, false, false],
      [false, true, true],
    ] as const) {
      const told = mock.method(lostPushes, 'count', () => {});
      serve(shared, isSigned);
      expect(told.mock.calls.map(({ arguments: given }) => given)).to.deep.equal([[counts]]);
      told.mock.restore();
    }
  });

  /** What an unsigned push causes: of the push itself only `typing` is shown. */
  const hints: [room: string, data: unknown[], expected: unknown[]][] = [
    ['room:7', ['message', message], ['message offered', message]],
    ['room:7', ['message:read', read, 5], ['compare soon', 7]],
    ['room:7', ['presence', presence, 9], ['presence checked', 7]],
    ['member:3', ['room', view, mark], ['room checked', 3, 7]],
    ['member:3', ['notification', notification], ['poll soon']],
    ['room:7', ['typing', typing], ['delivered', 'room:7', 'typing', typing]],
  ];
  for (const [room, data, expected] of hints) {
    it(`only looks for what is stored where a push is not signed: \`${data[0]}\``, () => {
      serve(true, false);
      push(room, data);
      expect(log).to.deep.equal([expected]);
    });
  }

  it('compares all rooms of a member of whom too many are announced without a signature', () => {
    serve(true, false);
    isNews = false;
    push('member:3', ['room', view, mark]);
    expect(log).to.deep.equal([
      ['room checked', 3, 7],
      ['compare member', 3],
    ]);
  });

  it('drops pushes of no documented form', () => {
    for (const data of [['message', { ...message, seq: 1.5 }], ['drain', {}], 'x']) {
      expect(() => push('room:7', data)).to.throw();
    }
    expect(log).to.deep.equal([]);
  });

  it('compares the rooms of a member to whom a push was dropped', () => {
    for (const room of ['room:7', 'member:3']) drop(room);
    expect(log).to.deep.equal([['compare member', 3]]);
  });

  it('receives pushes to rooms of this process alone', () => {
    expect(isHere('room:7')).to.equal(true);
    expect(isHere('room:8')).to.equal(false);
  });

  it('forwards what is flagged as local, or addressed to no room', () => {
    const packet = { type: 2, data: ['message', message] };
    const [rooms, except] = [new Set(['room:7']), new Set<string>()];
    adapter.broadcast(packet, { rooms, except, flags: { local: true } });
    adapter.broadcast(packet, { rooms: new Set(), except });
    expect(log.map(([what]) => what)).to.deep.equal(['passed', 'passed']);
  });

  it('delivers events for this process alone, presence after joins under way', () => {
    const live = serve(true);
    live.presenceHere(7, 3, true);
    const json = JSON.stringify(notification);
    expect(live.notificationHere(3, notification, json), 'nobody is here').to.equal(false);
    adapter.rooms.set('member:3', new Set());
    expect(live.notificationHere(3, notification, json)).to.equal(true);
    expect(log).to.deep.equal([
      ['change offered', 7],
      ['delivered', 'room:7', 'presence', presence],
      ['delivered', 'member:3', 'notification', notification, json],
    ]);
  });

  for (const shared of [true, false]) {
    it(`delivers each event of the domain once, ${shared ? 'through the bus' : 'directly if its process is the only one'}`, () => {
      const live = serve(shared);
      live.message(message);
      live.messageRead(7, position);
      live.presence(7, 3, true, 9);
      live.typing(7, 3, true);
      live.room(3, view, mark);
      live.notification(3, notification);
      expect(log).to.deep.equal([
        ['message offered', message],
        ...(shared ? [['chat heard', message]] : []),
        ['delivered', 'room:7', 'message', message],
        ['read offered', 7, position],
        ['delivered', 'room:7', 'message:read', read],
        ['chat heard presence', 7, 3, true, 9],
        ['change offered', 7],
        ['delivered', 'room:7', 'presence', presence],
        ['delivered', 'room:7', 'typing', typing],
        ['change offered', 7],
        ['room offered', 3, view, mark],
        ['delivered', 'member:3', 'room', view],
        ['notifications heard', 4],
        ['delivered', 'member:3', 'notification', notification],
      ]);
    });
  }

  it('drops notifications and presence changes that are known', () => {
    isNews = false;
    push('member:3', ['notification', notification]);
    push('room:7', ['presence', presence, 9]);
    expect(log.map(([what]) => what)).to.deep.equal(['notifications heard', 'chat heard presence']);
  });
});
