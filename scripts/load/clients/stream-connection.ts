import { connect } from 'node:net';
import type { OpenConnection } from './connection.js';

const READ_BUFFER = Buffer.allocUnsafe(256 * 1024);
const LINE_FEED = 0x0a;

/** First bytes of the line that carries an event's data. */
const DATA = Buffer.from('data: {');

/** An event stream (HTML Standard, section 9.2): ready with its first event, then every event with JSON counts. */
export const openStream: OpenConnection = (target, spec, events) =>
  new Promise((resolve, reject) => {
    let ready = false;
    let over = false;
    let rest: Buffer | undefined;

    function end(reason: string): void {
      if (over) return;
      over = true;
      socket.destroy();
      if (ready) events.closed(reason);
      else reject(new Error(reason));
    }

    function line(bytes: Buffer, from: number, to: number): void {
      if (!ready && bytes.toString('latin1', from, Math.min(to, from + 11)) === 'data: Event') {
        ready = true;
        resolve({
          send() {
            throw new Error('nothing is sent on an event stream');
          },
          cut() {
            over = true;
            socket.destroy();
          },
        });
      } else if (
        to - from > DATA.length &&
        bytes.compare(DATA, 0, DATA.length, from, from + DATA.length) === 0
      ) {
        events.heard(bytes, from, to);
      } else if (!ready && bytes.toString('latin1', from, Math.min(to, from + 9)) === 'HTTP/1.1 ') {
        const status = bytes.toString('latin1', from, to);
        if (!status.startsWith('HTTP/1.1 200')) end(`refused: ${status}`);
      }
    }

    function read(chunk: Buffer): void {
      const input = rest ? Buffer.concat([rest, chunk]) : chunk;
      rest = undefined;
      let at = 0;
      for (;;) {
        const feed = input.indexOf(LINE_FEED, at);
        if (feed < 0 || over) break;
        line(input, at, feed);
        at = feed + 1;
      }
      if (at < input.length) rest = Buffer.from(input.subarray(at));
    }

    const socket = connect({
      host: target.host,
      port: target.port,
      noDelay: true,
      onread: {
        buffer: READ_BUFFER,
        callback: (length, bytes) => {
          read((bytes as Buffer).subarray(0, length));
          return true;
        },
      },
    });
    socket.on('connect', () => {
      socket.write(
        `GET ${target.path ?? '/notification/connect'} HTTP/1.1\r\nHost: ${target.host}:${target.port}\r\n` +
          `Accept: text/event-stream\r\n${spec.token ? `Authorization: ${spec.token}\r\n` : ''}\r\n`,
      );
    });
    socket.on('error', (error) => end(error.message));
    socket.on('close', () => end('closed by the server'));
  });
