import type { ConnectionKind, OpenConnection } from './connection.js';
import { openMqtt } from './mqtt-connection.js';
import { openPlain } from './plain-connection.js';
import { openSocketIo } from './socketio-connection.js';
import { openStream } from './stream-connection.js';

const openers: Record<ConnectionKind, OpenConnection> = {
  socketio: openSocketIo,
  plain: openPlain,
  mqtt: openMqtt,
  stream: openStream,
};

/** Opens a connection of the target's kind. */
export const openConnection: OpenConnection = (target, spec, events) =>
  openers[target.kind](target, spec, events);
