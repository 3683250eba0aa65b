import { z } from 'zod';
import {
  acknowledged,
  event,
  flag,
  type Kept,
  no,
  operation,
  type Shaped,
  text,
  unanswered,
} from './operation.js';
import { take, takeList } from './rest.js';
import type { World } from './world.js';

const message = {
  id: text,
  /** Lists and pushes have none. */
  seq: no.optional(),
  sender: no,
  /** Absent: `text`. */
  type: text.optional(),
  content: text,
  /** Participants that have not read it: 1, then 0. */
  readCount: no,
  /** When it was sent, epoch ms by the service's clock. */
  at: no,
};
/** A message as a client saw it. */
export type SeenMessage = Shaped<typeof message>;

const roomState = {
  room: no,
  unread: no,
  /** Content of the latest message, and when it was sent, epoch ms; absent while the room is empty. */
  latest: text.optional(),
  latestAt: no.optional(),
  /** When it was opened, epoch ms. */
  since: no,
  /** Whose room it is, about what, if the header does not say so: it was opened later. */
  opened: z.object({ creator: no, joiner: no, saleNo: no, saleTitle: text }).optional(),
};
/** A room in a member's list. */
export type RoomState = Shaped<typeof roomState>;

const kinds = {
  id: 'text',
  senderNo: 'int',
  content: 'text',
  contentType: 'text',
  readCount: 'int',
} as const;

const typeOf = (contentType: string) => (contentType === 'text' ? {} : { type: contentType });

/** The payload of a message: by socket it has a number. */
function readPayload(
  payload: unknown,
  by: 'socket' | 'push',
): Kept<SeenMessage> & { rest: [Record<string, unknown>] } {
  const [{ id, senderNo, content, contentType, readCount, sendTime }, rest] = take(payload, {
    ...kinds,
    sendTime: 'int',
  });
  const kept = { id, sender: senderNo, ...typeOf(contentType), content, readCount, at: sendTime };
  if (by === 'push') return { kept, rest: [rest] };
  const [{ seq }, others] = take(rest, { seq: 'int' });
  return { kept: { ...kept, seq }, rest: [others] };
}

const restOfPayload = (world: World, room: number, sender: number) => {
  const { nickname, email } = world.member(sender) ?? {};
  return { chatNo: room, senderName: nickname, saleNo: world.room(room)?.saleNo, senderEmail: email };
};

function readListed(view: unknown): Kept<SeenMessage> {
  const [{ id, senderNo, content, contentType, readCount, sendDate }, rest] = take(view, {
    ...kinds,
    sendDate: 'int',
  });
  return {
    kept: { id, sender: senderNo, ...typeOf(contentType), content, readCount, at: sendDate },
    rest: [rest],
  };
}

/** @param view an element of the room list, or a `room` event */
function readRoom(view: unknown, world: World): Kept<RoomState> {
  let [{ chatNo, unReadCount, regDate }, rest] = take(view, {
    ...{ chatNo: 'int', unReadCount: 'int', regDate: 'int' },
  });
  const state: RoomState = { room: chatNo, unread: unReadCount, since: regDate };
  if (!world.room(chatNo)) {
    const [{ createMember, joinMember, saleNo, saleTitle }, others] = take(rest, {
      ...{ createMember: 'int', joinMember: 'int', saleNo: 'int', saleTitle: 'text' },
    });
    state.opened = { creator: createMember, joiner: joinMember, saleNo, saleTitle };
    rest = others;
  }
  const { creator = 0, joiner = 0 } = world.room(chatNo) ?? state.opened ?? {};
  const parties = [creator, joiner].map((one) => world.member(one));
  if (!parties.every(Boolean)) delete rest.participant;
  else if (parties.some((one) => one?.picture === undefined) && typeof rest.participant === 'object')
    rest.participant = { ...rest.participant, profile: undefined };
  if (rest.latestMessage === undefined) return { kept: state, rest: [rest] };
  const [{ context, sendAt }, others] = take(rest.latestMessage, { context: 'text', sendAt: 'int' });
  return {
    kept: { ...state, latest: context, latestAt: sendAt },
    rest: [{ ...rest, latestMessage: others }],
  };
}

/** @param member whose list it is in */
function restOfRoom(world: World, member: number, { room, latest, opened }: RoomState) {
  const { creator, joiner, saleNo, saleTitle } = world.room(room) ?? opened ?? {};
  const [mine, other] = [member, member === creator ? joiner : creator].map((one) => world.member(one ?? 0));
  return {
    ...(opened ? {} : { createMember: creator, joinMember: joiner, saleNo, saleTitle }),
    // A room of others has one whom nobody of the run knows.
    ...(mine && other
      ? {
          participant: {
            username: other.nickname,
            profile: mine.picture === undefined ? undefined : other.picture,
          },
        }
      : {}),
    ...(latest === undefined ? {} : { latestMessage: {} }),
  };
}

const all = <T>(list: Kept<T>[]) => ({
  kept: list.map((one) => one.kept),
  rest: list.flatMap((one) => one.rest),
});

export const chatOperations = {
  /** Opens the room of the caller and the author of a post, or finds the one they have. */
  openRoom: acknowledged({ sale: no, creator: no }),

  /**
   * A retry has the `key` and `content` of the first attempt. No two messages share a content. `type`: absent: `text`.
   * `anonymous`: by the push call, without a token.
   */
  send: operation({
    asked: { room: no, key: text, type: text.optional(), content: text, anonymous: flag.optional() },
    answered: { id: text, seq: no.optional(), readCount: no, at: no },
    read(answer, { door }) {
      const [, ack] = take(answer, {});
      const isSocket = door === 'socket';
      const { kept, rest } = readPayload(isSocket ? ack.message : answer, isSocket ? 'socket' : 'push');
      const { id, seq, readCount, at, sender, type, content } = kept;
      const stored = { ...rest[0], senderNo: sender, contentType: type ?? 'text', content };
      return {
        kept: { id, ...(seq === undefined ? {} : { seq }), readCount, at },
        rest: isSocket ? [{ ...ack, message: stored }] : [stored],
      };
    },
    rest({ world, member, door, room, type = 'text', content, anonymous }) {
      const payload = restOfPayload(world, room, member);
      const stored = { ...payload, senderNo: member, contentType: type, content };
      if (door === 'socket') return [{ status: 200, message: stored }];
      // Who is known by their client alone is not told an address that they have not sent. (contract, section 4)
      return [anonymous ? { ...stored, senderEmail: '' } : stored];
    },
  }),

  /** A legacy receiver posts a broadcast back with its id: answered with the stored message, and nothing is stored. */
  postback: operation({
    asked: { room: no, message: text, anonymous: flag.optional() },
    answered: { message: z.object(message) },
    read(answer) {
      const { kept, rest } = readPayload(answer, 'push');
      return { kept: { message: kept }, rest };
    },
    rest({ world, member, room, anonymous }, { message: { sender } }) {
      const payload = restOfPayload(world, room, sender);
      return [anonymous && sender !== member ? { ...payload, senderEmail: '' } : payload];
    },
  }),

  join: operation({
    asked: { room: no, after: no },
    answered: { seq: no, messages: z.array(z.object(message)), present: z.array(no), more: flag },
    read(answer) {
      const [{ seq, more }, rest] = take(answer, { seq: 'int', more: 'flag' });
      const messages = all(takeList(rest, 'messages').map((one) => readPayload(one, 'socket')));
      const listed = takeList(rest, 'present');
      const present = listed.filter((one) => Number.isSafeInteger(one)) as number[];
      if (present.length < listed.length) rest.present = listed;
      return { kept: { seq, messages: messages.kept, present, more }, rest: [rest, ...messages.rest] };
    },
    rest: ({ world, room, after }, { seq, messages }) => [
      { status: 200, from: after > seq ? 'newest' : 'after' },
      ...messages.map(({ sender }) => restOfPayload(world, room, sender)),
    ],
  }),

  /** Leaves the room: by socket this client, by REST all of the member's. */
  leave: acknowledged({ room: no }),

  read: acknowledged({ room: no, seq: no }),

  /** Has no answer. */
  typing: unanswered({ room: no, typing: flag }),

  rooms: operation({
    asked: {},
    answered: { rooms: z.array(z.object(roomState)) },
    read(answer, { world }) {
      if (!Array.isArray(answer)) return { kept: { rooms: [] }, rest: [answer] };
      const { kept, rest } = all(answer.map((one) => readRoom(one, world)));
      return { kept: { rooms: kept }, rest };
    },
    rest: ({ world, member }, { rooms }) => rooms.map((state) => restOfRoom(world, member, state)),
  }),

  /** A page of at most `limit` messages before an id, oldest first; it marks all messages of the room read. */
  messages: operation({
    asked: { room: no, limit: no, before: text.optional() },
    answered: { messages: z.array(z.object(message)) },
    read(answer) {
      const [, rest] = take(answer, {});
      const page = all(takeList(rest, 'chatList').map(readListed));
      return { kept: { messages: page.kept }, rest: [rest, ...page.rest] };
    },
    rest: ({ world, member, room }, { messages }) => [
      { email: world.member(member)?.email },
      ...messages.map(({ sender }) => ({
        ...{ chatRoomNo: room, senderName: world.member(sender)?.nickname, mine: sender === member },
      })),
    ],
  }),
};

export const chatEvents = {
  message: event({
    shape: { room: no, message: z.object(message) },
    read(payload) {
      const { kept, rest } = readPayload(payload, 'socket');
      const [{ chatNo }, others] = take(rest[0], { chatNo: 'int' });
      return { kept: { room: chatNo, message: kept }, rest: [others] };
    },
    rest({ world }, { room, message: { sender } }) {
      const { chatNo: _, ...rest } = restOfPayload(world, room, sender);
      return [rest];
    },
  }),

  'message:read': event({
    shape: { room: no, reader: no, seq: no },
    read(payload) {
      const [{ chatNo, memberNo, seq }, rest] = take(payload, { chatNo: 'int', memberNo: 'int', seq: 'int' });
      return { kept: { room: chatNo, reader: memberNo, seq }, rest: [rest] };
    },
    rest: () => [{}],
  }),

  presence: event({
    shape: { room: no, who: no, present: flag },
    read(payload) {
      const [{ chatNo, memberNo, present }, rest] = take(payload, {
        ...{ chatNo: 'int', memberNo: 'int', present: 'flag' },
      });
      return { kept: { room: chatNo, who: memberNo, present }, rest: [rest] };
    },
    rest: () => [{}],
  }),

  typing: event({
    shape: { room: no, who: no, typing: flag },
    read(payload) {
      const [{ chatNo, memberNo, typing }, rest] = take(payload, {
        ...{ chatNo: 'int', memberNo: 'int', typing: 'flag' },
      });
      return { kept: { room: chatNo, who: memberNo, typing }, rest: [rest] };
    },
    rest: () => [{}],
  }),

  room: event({
    shape: { state: z.object(roomState) },
    read(payload, { world }) {
      const { kept, rest } = readRoom(payload, world);
      return { kept: { state: kept }, rest };
    },
    rest: ({ world, member }, { state }) => [restOfRoom(world, member, state)],
  }),
};
