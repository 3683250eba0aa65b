import { type Document, deserialize, serialize } from 'bson';

/** A message is a header, flags, and a section of kind 0 with the command. (MongoDB wire protocol, OP_MSG) */
const OP_MSG = 2013;
const COMMAND_AT = 21;

/** The command of a message, without its document sequences; empty for another kind of message. */
export function commandIn(message: Buffer): Document {
  if (message.readInt32LE(12) !== OP_MSG) return {};
  return deserialize(message.subarray(COMMAND_AT), { allowObjectSmallerThanBufferSize: true });
}

/** A message of one section with another command. */
export function withCommand(message: Buffer, command: Document): Buffer {
  const changed = Buffer.concat([message.subarray(0, COMMAND_AT), serialize(command)]);
  changed.writeInt32LE(changed.length, 0);
  return changed;
}

/** The server's reply to a message. */
export function replyTo(message: Buffer, reply: Document): Buffer {
  const header = Buffer.from(message.subarray(0, COMMAND_AT));
  header.writeInt32LE(header.readInt32LE(4), 8);
  header.writeInt32LE(0, 16);
  header.writeUInt8(0, 20);
  return withCommand(header, reply);
}
