import type { OpenConnection } from './connection.js';
import { startsWith, TcpClient } from './tcp-client.js';

const LINE_FEED = 0x0a;
const DELIVERY = Buffer.from('data: {');

/** An event stream (HTML Standard, section 9.2): its first event makes it ready, every later one with JSON counts. */
export const openStream: OpenConnection = (target, { token }, events) => {
  const { host, port, path } = target;
  let ready = false;

  function readLine(bytes: Buffer, from: number, to: number): void {
    if (startsWith(bytes, from, DELIVERY)) events.delivered(bytes, from, to);
    if (ready) return;
    const begins = (prefix: string) => bytes.toString('latin1', from, from + prefix.length) === prefix;
    if (begins('data: Event')) {
      ready = true;
      events.ready();
    } else if (begins('HTTP/1.1 ') && !begins('HTTP/1.1 200'))
      tcp.fail(`refused: ${bytes.toString('latin1', from, to)}`);
  }

  const tcp = new TcpClient(target, {
    greeting: () =>
      `GET ${path ?? '/notification/connect'} HTTP/1.1\r\nHost: ${host}:${port}\r\n` +
      `Accept: text/event-stream\r\n${token ? `Authorization: ${token}\r\n` : ''}\r\n`,
    read(bytes, at) {
      const end = bytes.indexOf(LINE_FEED, at);
      if (end < 0) return undefined;
      readLine(bytes, at, end);
      return end + 1;
    },
    closed: events.closed,
  });

  return {
    send() {
      throw new Error('an event stream cannot send');
    },
    cut: () => tcp.cut(),
  };
};
