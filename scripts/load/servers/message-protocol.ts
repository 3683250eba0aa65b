import type { MessageRecord } from '../../../domain/chat/message.model.js';
import { eventFrame, messageJson, messageRecord } from '../messages.js';

/**
 * The part of Engine.IO's and Socket.IO's protocol that the load clients use, for servers without Socket.IO:
 * joining a room, and sending a message to it.
 */

/** The first frame of a connection: Engine.IO's `open`. */
export const OPEN =
  '0{"sid":"load","upgrades":[],"pingInterval":250000,"pingTimeout":200000,"maxPayload":1000000}';

/** A client's connection as the server has it. */
export interface ServerConnection {
  send(frame: string): void;
  join(chatNo: number): void;
  /** Sends to all members of a room. */
  publish(chatNo: number, frame: string): void;
}

interface RequestBody {
  chatNo: number;
  content?: string;
  clientId?: string;
}

/**
 * @param store stores each message before it is published and acknowledged
 * @returns handles a client's frame
 */
export function createFrameHandler(store?: (record: MessageRecord) => Promise<unknown>) {
  const sequences = new Map<number, number>();
  return function handleFrame(frame: string, connection: ServerConnection): void {
    if (frame.startsWith('40')) connection.send('40{"sid":"load"}');
    if (!frame.startsWith('42')) return;
    // `42`, the acknowledgement's id, and the event with its body in brackets.
    const open = frame.indexOf('[');
    const acknowledgement = `43${frame.slice(2, open)}[{"status":200`;
    const [event, { chatNo, content = '', clientId = '' }] = JSON.parse(frame.slice(open)) as [
      string,
      RequestBody,
    ];
    if (event === 'room:join') {
      connection.join(chatNo);
      connection.send(`${acknowledgement}}]`);
      return;
    }
    const seq = (sequences.get(chatNo) ?? 0) + 1;
    sequences.set(chatNo, seq);
    const publish = () => {
      const payload = messageJson(chatNo, content, seq);
      connection.publish(chatNo, eventFrame('message', payload));
      connection.send(`${acknowledgement},"message":${payload}}]`);
    };
    if (store) void store(messageRecord(chatNo, seq, content, clientId)).then(publish);
    else publish();
  };
}
