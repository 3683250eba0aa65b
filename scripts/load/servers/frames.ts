/**
 * The least of Engine.IO's and Socket.IO's protocol that the load clients speak, for servers that have no
 * Socket.IO: what arrives, and what is answered.
 */

/** The first frame of a connection. */
export const HELLO =
  '0{"sid":"load","upgrades":[],"pingInterval":250000,"pingTimeout":200000,"maxPayload":1000000}';

/** What answers a client's `40`. */
export const WELCOME = '40{"sid":"load"}';

export interface Request {
  /** Id that the acknowledgement carries. */
  ack: string;
  event: string;
  body: { chatNo: number; content?: string; contentType?: string; clientId?: string };
}

/** A request with its acknowledgement's id, as in `421["message:send",{…}]`. */
export function readRequest(frame: string): Request {
  const open = frame.indexOf('[');
  const [event, body] = JSON.parse(frame.slice(open)) as [string, Request['body']];
  return { ack: frame.slice(2, open), event, body };
}

/** The acknowledgement of a request, with these fields beside its status. */
export function answerTo({ ack }: Request, fields = ''): string {
  return `43${ack}[{"status":200${fields}}]`;
}

/** A notification as the service's sockets get it. */
export function notificationFrame(id: number, content: string): string {
  return (
    `42["notification",{"id":${id},"type":"announcement","content":"${content}","url":"/board/1",` +
    `"publishedAt":[2026,1,2,3,4,5],"name":"admin","checked":false,"del":false}]`
  );
}
