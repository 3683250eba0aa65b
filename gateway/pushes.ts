import { z } from 'zod';
import { messagePayload, notificationView, roomView } from '../domain/kernel/live.js';
import { chatRoom, memberNoOf, memberRoom } from '../domain/kernel/socket-rooms.js';
import { RejectedMessage } from '../domain/platform/redis/sealed-messages.js';
import { pushes } from './protocol.js';

/** Of a room, a member, a message or a notification. */
const number = z.int().positive();
const count = z.int().nonnegative();

const inRoom = { chatNo: number, memberNo: number };

/** All that processes push to each other: an event as clients get it, and a note for gateways, which order and merge by it. */
const schemas = {
  message: z.tuple([z.literal('message'), messagePayload.extend({ chatNo: number, seq: number })]),
  'message:read': z.tuple([
    z.literal('message:read'),
    pushes['message:read'].payload.extend({ ...inRoom, seq: count }),
    count,
  ]),
  typing: z.tuple([z.literal('typing'), pushes.typing.payload.extend(inRoom)]),
  presence: z.tuple([z.literal('presence'), pushes.presence.payload.extend(inRoom), count]),
  room: z.tuple([
    z.literal('room'),
    roomView.extend({ chatNo: number }),
    z.strictObject({ seq: count, read: count }),
  ]),
  notification: z.tuple([z.literal('notification'), notificationView.extend({ id: number })]),
};

export type Push = { [E in keyof typeof schemas]: z.output<(typeof schemas)[E]> }[keyof typeof schemas];

/** Whether a push goes to the Socket.IO room that its payload belongs to. */
function belongsTo(room: string, push: Push): boolean {
  switch (push[0]) {
    case 'room':
      return [push[1].createMember, push[1].joinMember].some((memberNo) => memberRoom(memberNo) === room);
    case 'notification':
      return memberNoOf(room) !== undefined;
    default:
      return chatRoom(push[1].chatNo) === room;
  }
}

/**
 * Reads what came over the bus.
 * @param room the Socket.IO room it goes to
 * @throws RejectedMessage, ZodError unless it is a push of the documented form, to the right room
 */
export function readPush(room: string, data: unknown): Push {
  const event: unknown = Array.isArray(data) ? data[0] : undefined;
  if (typeof event !== 'string' || !Object.hasOwn(schemas, event)) {
    throw new RejectedMessage('unknown', 'an event that no process pushes');
  }
  const push = schemas[event as Push[0]].parse(data);
  if (!belongsTo(room, push)) throw new RejectedMessage('malformed', `a ${event} event to another room`);
  return push;
}
