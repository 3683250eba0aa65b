import { expect } from 'chai';
import fc from 'fast-check';
import { engineNames } from '../../support/engine.js';
import { WAIT_MS } from '../../support/eventually.js';
import { rawConnection, rawGet, rawRequest } from '../../support/raw-connection.js';
import { rawPolling } from '../../support/raw-polling.js';
import { startServiceProcess } from '../../support/service-process.js';
import { type Door, MEASURED } from './door.js';
import { SECRET } from './tokens.js';
import { rarely } from './values.js';

/** A request as bytes, with SID for the id of a live session. */
interface Sent {
  /** Index into the ports: of REST, and of the gateway on each engine. */
  port: number;
  text: string;
}

/** Headers that say where a request ends, or what becomes of its connection; the first of each is the usual one. */
const VALUES: Record<string, string[]> = {
  Host: ['x', 'y', '', 'localhost', 'x:99999', 'a b'],
  'Content-Length': [
    '2',
    '20',
    '0',
    '-1',
    '+2',
    '2, 2',
    '2,20',
    '0x2',
    '2 ',
    '',
    '99999999999999999999',
    'x',
  ],
  'Transfer-Encoding': [
    'chunked',
    'identity',
    'chunked, chunked',
    'gzip',
    ' chunked',
    'chunked\x0b',
    'xchunked',
    '',
  ],
  Connection: ['keep-alive', 'close', 'Upgrade', 'close, keep-alive', 'Content-Length', ''],
  Upgrade: ['websocket', 'h2c', 'WebSocket', 'websocket, h2c', ''],
  'Sec-WebSocket-Key': ['dGhlIHNhbXBsZSBub25jZQ==', 'x', ''],
  'Sec-WebSocket-Version': ['13', '8', '13, 8', ''],
  'Sec-WebSocket-Extensions': ['permessage-deflate', 'permessage-deflate; server_max_window_bits=99', ';;='],
  Expect: ['100-continue', 'x', ''],
  'Content-Type': ['application/json', 'text/plain', 'application/octet-stream', 'multipart/form-data', ''],
  'Content-Encoding': ['identity', 'gzip', 'br', 'gzip, br', 'x', ''],
  Authorization: ['Bearer x', 'x', ''],
  Origin: ['http://localhost:3000', 'https://evil.example.org', 'null', ''],
  Cookie: ['JSESSIONID=x', '=;', ';;', ''],
  'X-Forwarded-For': ['10.9.9.9', 'x', '10.9.9.9, ::1', ''],
  'If-None-Match': ['"x"', '*', ''],
  'Accept-Encoding': ['gzip', '*;q=0', ''],
  'Last-Event-ID': ['1_1', 'x', ''],
};

/** What stands between name and value; most often what all clients write. */
const colon = rarely(': ', fc.constantFrom(':', ' : ', ':\t', ': \r\n ', ';', ''));

const header = fc
  .constantFrom(...Object.keys(VALUES))
  .chain((name) =>
    fc
      .tuple(
        rarely(name, fc.constantFrom(name.toLowerCase(), name.toUpperCase(), `${name}\0`, ` ${name}`, '')),
        colon,
        fc.constantFrom(...(VALUES[name] as string[])),
      )
      .map((parts) => parts.join('')),
  );

/** The same header twice, alike or not. */
const twice = fc
  .constantFrom(...Object.keys(VALUES))
  .chain((name) =>
    fc
      .array(fc.constantFrom(...(VALUES[name] as string[])), { minLength: 2, maxLength: 3 })
      .map((values) => values.map((value) => `${name}: ${value}`)),
  );

const lines = fc
  .array(
    fc.oneof(
      header.map((one) => [one]),
      { weight: 2, arbitrary: twice },
    ),
    { maxLength: 5 },
  )
  .map((groups) => groups.flat());

const paths = fc.constantFrom(
  ...[
    '/healthz',
    '/community/list/recent',
    '/chatroom/notification',
    '/demo',
    '/notification/subscribe',
    '*',
    '//',
  ],
  ...['/socket.io/?EIO=4&transport=polling', '/socket.io/?EIO=4&transport=websocket'],
  ...['polling', 'polling', 'polling', 'websocket'].map(
    (one) => `/socket.io/?EIO=4&transport=${one}&sid=SID`,
  ),
  'http://x/healthz',
);

const body = fc.constantFrom(
  '',
  '{}',
  '40',
  '3',
  '2\r\n{}\r\n0\r\n\r\n',
  'x'.repeat(20),
  `40${' '.repeat(18)}`,
  '0\r\n\r\n',
);

const text = fc
  .tuple(
    fc.constantFrom('GET', 'GET', 'POST', 'POST', 'OPTIONS', 'HEAD', 'CONNECT', 'get'),
    paths,
    rarely('HTTP/1.1', fc.constantFrom('HTTP/1.0', 'HTTP/2.0', 'HTTP/1.1 ', '')),
    rarely('Host: x', fc.constant('')),
    lines,
    rarely('\r\n', fc.constant('\n')),
    body,
  )
  .map(([method, path, version, host, more, end, rest]) =>
    [`${method} ${path} ${version}`, ...(host ? [host] : []), ...more, '', rest].join(end),
  );

const ports = engineNames.length + 1;

/**
 * Requests with repeated and contradictory headers: each is answered or its connection closed, and ends no process.
 */
export const headers: Door<Sent> = {
  name: 'headers',
  cases: 250,
  input: fc.record({ port: fc.nat(ports - 1), text }),
  async open() {
    const settings = { JWT_SECRET: SECRET, RATE_LIMIT: 'off', ...MEASURED };
    const services = await Promise.all(
      engineNames.map((name) => startServiceProcess({ ...settings, GATEWAY_ENGINE: name })),
    );
    const bases = [services[0]?.http as string, ...services.map(({ gateway }) => gateway)];
    const isServed = async (base: string) =>
      expect(await rawRequest(base, rawGet('/healthz', '', 'Connection: close'), /\r\n\r\n.+/s)).to.match(
        /^HTTP\/1\.1 200 /,
      );
    return {
      processes: services.map((service) => service.process),
      async send({ port, text: sent }) {
        const base = bases[port] as string;
        const session = port > 0 && sent.includes('SID') ? await rawPolling(base) : undefined;
        const sid = session && (new URL(session.url).searchParams.get('sid') as string);
        const connection = rawConnection(base, sent.replace('SID', sid ?? 'x'));
        await isServed(base);
        // Its end closes the connection, whatever was understood as the request.
        connection.socket.end();
        await session?.post(['1']).catch(() => {});
        await connection.ended;
        for (const [, status] of connection.text.matchAll(/HTTP\/1\.1 (\d{3}) /g))
          expect(Number(status)).to.satisfy((one: number) => one < 500 || one === 501 || one === 505);
        await isServed(base);
      },
      async check() {
        for (const base of bases) {
          const answer = await fetch(`${base}/healthz`, { signal: AbortSignal.timeout(WAIT_MS) });
          expect(answer.status).to.equal(200);
        }
      },
      close: async () => void (await Promise.all(services.map((service) => service.stop()))),
    };
  },
};
