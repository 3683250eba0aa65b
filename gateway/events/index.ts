import { authRefresh } from './auth-refresh.js';
import type { EventDefinition } from './handle.js';
import { messageRead } from './message-read.js';
import { messageSend } from './message-send.js';
import { roomJoin } from './room-join.js';
import { roomLeave } from './room-leave.js';
import { typing } from './typing.js';

/** All client events, in the order of contract section 5. */
export const clientEvents: readonly EventDefinition[] = [
  roomJoin,
  roomLeave,
  messageSend,
  messageRead,
  typing,
  authRefresh,
];
