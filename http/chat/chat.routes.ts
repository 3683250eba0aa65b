import type { Domain } from '../../domain/domain.js';
import { parseInput } from '../../domain/kernel/input.js';
import { DONE } from '../respond.js';
import { type Route, route } from '../route.js';
import { callerOf } from './caller.js';
import {
  chatNoParams,
  createRoomBody,
  disconnectFields,
  listMessagesQuery,
  listRoomsQuery,
  notificationBody,
} from './chat.schema.js';
import { readFormBody } from './form-body.js';

/** Interface, "Chat". */
export function chatRoutes({ chat, rateLimits }: Domain): Route[] {
  return [
    route({
      method: 'post',
      path: '/chatroom',
      auth: 'required',
      limit: 'write',
      body: createRoomBody,
      async handle({ actor, body }) {
        await chat.createRoom(actor, body);
        return DONE;
      },
    }),

    route({
      method: 'post',
      path: '/chatroom/notification',
      auth: 'optional',
      limit: 'write',
      body: notificationBody,
      async handle({ actor, client, body, ctx }) {
        if (typeof body.id === 'string') return chat.echoMessage(body.chatNo, body.id);
        await rateLimits.take('message', actor ? actor.no : client.address);
        return chat.pushMessage(await callerOf(ctx, actor), body);
      },
    }),

    route({
      method: 'post',
      path: '/chatroom/:chatNo',
      auth: 'optional',
      limit: 'write',
      params: chatNoParams,
      async handle({ actor, params, ctx }) {
        const { email } = parseInput(disconnectFields, await readFormBody(ctx), 'body');
        await chat.disconnectFromRoom(await callerOf(ctx, actor), params.chatNo, email);
        return DONE;
      },
    }),

    route({
      method: 'get',
      path: '/chatroom',
      auth: 'required',
      limit: 'read',
      query: listRoomsQuery,
      handle: ({ actor, query }) => chat.listRooms(actor, query.saleNo),
    }),

    route({
      method: 'get',
      path: '/chatroom/:chatNo',
      auth: 'required',
      limit: 'read',
      params: chatNoParams,
      query: listMessagesQuery,
      handle: ({ actor, params, query, peek }) => chat.listMessages(actor, params.chatNo, { ...query, peek }),
    }),
  ];
}
