import { MAX_LISTED } from '../../domain/chat/index.js';
import type { Domain } from '../../domain/domain.js';
import { clientHash } from '../../domain/kernel/client.js';
import { type Route, route } from '../route.js';
import { callerOf } from './caller.js';
import {
  chatNoParams,
  chatNotification,
  createRoomBody,
  disconnectFields,
  listMessagesQuery,
  listRoomsQuery,
  messageList,
  notificationBody,
  notificationForms,
  roomList,
} from './chat.schema.js';

const tag = 'Chat';
const noRoom = { CHAT_ROOM_NOT_FOUND: 'chat room 7 does not exist' };
const notMine = { FORBIDDEN: 'only the participants of this chat room may do that' };

function pushRoute({ chat, rateLimits }: Domain): Route {
  return route({
    method: 'post',
    path: '/chatroom/notification',
    tag,
    id: 'pushChatNotification',
    summary: 'Push chat notification',
    description:
      'Stores and delivers a message exactly as a socket does, and answers with every field filled. A retry (same room, sender, `sendTime` and content) answers with the first message; a `sendTime` more than a day from now tells no retry. A message with its `id` is a broadcast posted back: it is answered with the stored message and neither stored nor notified again. A broadcast posted back without its `id` is answered so, too: it names a sender, and its content and `sendTime` are those of a stored message; where it names the other participant, the content alone will do. No Authorization header is needed: without one the sender is the participant of the session cookie, or the one who last opened or listed the room with a token from this client in the last 30 minutes; `senderNo` and `senderEmail` may pick among these. A page of an origin that CORS_ORIGINS does not name has neither, and an address that an untrusted proxy forwards identifies nobody. Such a caller is told no e-mail address that the call did not carry: `senderEmail` is empty then.',
    auth: 'optional',
    cookie: true,
    limit: 'write',
    admit: (actor) => chat.requireToken({ actor }),
    body: notificationBody,
    bodyShown: notificationForms,
    answer: chatNotification,
    errors: {
      UNAUTHORIZED: 'no participant of this chat room is known behind this call: send a token',
      ...notMine,
      ...noRoom,
      MESSAGE_NOT_FOUND: 'id: chat room 7 holds no such message',
      QUOTA_EXCEEDED: 'more than 5000 messages in 24 h',
    },
    async handle({ actor, client, body, ctx }) {
      const caller = await callerOf(ctx, actor);
      if (typeof body.id === 'string') return chat.echoMessage(caller, body);
      const charge = (memberNo: number) => rateLimits.take('message', memberNo);
      const answer = await chat.pushMessage(caller, body, charge);
      if (actor) chat.noteClient(clientHash(client), actor.no, { rooms: [body.chatNo] });
      return answer;
    },
  });
}

/** Interface, "Chat". */
export function chatRoutes(domain: Domain): Route[] {
  const { chat } = domain;
  return [
    route({
      method: 'post',
      path: '/chatroom',
      tag,
      id: 'createChatRoom',
      summary: 'Create chat room',
      description:
        'Opens a room of two members about a sale (adoption) post: its author is the creating member, the caller joins. The same pair and post again keeps the one room. The number of the room is in the room list, and in the `room` event that both get.',
      auth: 'required',
      limit: 'write',
      body: createRoomBody,
      errors: {
        INVALID_INPUT: 'createMember: must be the author of the adoption post or the caller',
        SALE_NOT_FOUND: 'saleNo: adoption post 12 does not exist',
        QUOTA_EXCEEDED: 'more than 200 rooms in 24 h',
      },
      async handle({ actor, client, body }) {
        const chatNo = await chat.createRoom(actor, body);
        chat.noteClient(clientHash(client), actor.no, { rooms: [chatNo] });
      },
    }),

    pushRoute(domain),

    route({
      method: 'post',
      path: '/chatroom/:chatNo',
      tag,
      id: 'disconnectFromRoom',
      summary: 'Disconnect from room',
      description:
        'Takes a member out of a room: presence ends and their sockets leave it, on every process. The body is form-encoded whatever its content type says; JSON and `?email=` work too. From anybody but the member (token, session cookie or recent client) it does nothing; without a token the answer is the same whoever calls, whatever the room and the address.',
      auth: 'optional',
      cookie: true,
      limit: 'write',
      params: chatNoParams,
      body: disconnectFields,
      encoding: 'form',
      errors: {
        INVALID_INPUT: 'email: is missing',
        CHAT_ROOM_NOT_FOUND: 'email: takes no part in chat room 7',
      },
      handle: async ({ actor, params, body, ctx }) =>
        chat.disconnectFromRoom(await callerOf(ctx, actor), params.chatNo, body.email),
    }),

    route({
      method: 'get',
      path: '/chatroom',
      tag,
      id: 'listChatRooms',
      summary: 'List chat rooms',
      description: 'Returns the rooms of the calling member, the one with the newest activity first.',
      auth: 'required',
      limit: 'list',
      query: listRoomsQuery,
      answer: roomList,
      async handle({ actor, client, query: { saleNo } }) {
        const rooms = await chat.listRooms(actor, saleNo);
        // The newest last: those are remembered.
        const listed = rooms.map(({ chatNo }) => chatNo).reverse();
        const upTo = listed.reduce((highest, chatNo) => Math.max(highest, chatNo), 0);
        chat.noteClient(clientHash(client), actor.no, saleNo === undefined ? { upTo } : { rooms: listed });
        return rooms;
      },
    }),

    route({
      method: 'get',
      path: '/chatroom/:chatNo',
      tag,
      id: 'listMessages',
      summary: 'List messages of a room',
      description: `Marks the other party's messages read, then returns the latest ${MAX_LISTED} messages, oldest first, or as many as fit into the list. For older ones, send the id of the oldest you have as \`before\`.`,
      auth: 'required',
      limit: 'list',
      params: chatNoParams,
      query: listMessagesQuery,
      answer: messageList,
      errors: { ...notMine, ...noRoom, MESSAGE_NOT_FOUND: 'before: chat room 7 holds no such message' },
      async handle({ actor, client, params: { chatNo }, query, peek }) {
        const list = await chat.listMessages(actor, chatNo, { ...query, peek });
        chat.noteClient(clientHash(client), actor.no, { rooms: [chatNo] });
        return list;
      },
    }),
  ];
}
