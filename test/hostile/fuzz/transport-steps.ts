import fc from 'fast-check';
import { clientFrame } from '../../support/raw-socket.js';
import type { Request, Transports } from './transports-under-test.js';
import { rarely } from './values.js';

/** What steps depend on. */
export interface Model {
  /** Handshakes so far. */
  sessions: number;
}

/** One step: it is taken where the model allows. */
function step(
  name: string,
  take: (real: Transports) => void | Promise<void>,
  opens = false,
): fc.AsyncCommand<Model, Transports> {
  return {
    check: ({ sessions }) => opens || sessions > 0,
    async run(model, real) {
      if (opens) model.sessions += 1;
      await take(real);
    },
    toString: () => name,
  };
}

const EMPTY: Request = {
  ...{ method: 'GET', query: '', headers: [], body: '', isUpgrade: false, isUnclear: false },
};

const nat = fc.nat(11);

/** Repeated and contradictory ones; the first leave it open where a request ends. */
const FRAMING = [
  ['Content-Length: 2'],
  ['Content-Length: 20', 'Content-Length: 2'],
  ['Transfer-Encoding: chunked'],
  ['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'],
];
const REPEATED = [
  ['Host: y'],
  ['Upgrade: h2c'],
  ['Connection: close'],
  ['Connection: close', 'Connection: keep-alive'],
  ['Expect: 100-continue'],
  ['Origin: http://localhost:3000', 'Origin: https://evil.example.org'],
  ['Content-Type: application/octet-stream'],
  ['X-Forwarded-For: 10.0.0.1', 'X-Forwarded-For: x'],
  ['Sec-WebSocket-Version: 8'],
  ['Sec-WebSocket-Key: x'],
];

const headers = rarely<{ headers: string[]; isUnclear: boolean }>(
  { headers: [], isUnclear: false },
  fc.oneof(
    fc.constantFrom(...FRAMING).map((lines) => ({ headers: lines, isUnclear: true })),
    fc.constantFrom(...REPEATED).map((lines) => ({ headers: lines, isUnclear: false })),
  ),
);

const PACKETS = [
  '1',
  '2',
  '2probe',
  '3',
  '5',
  '6',
  '40',
  '40{"token":"TOKEN"}',
  '41',
  '42["x"]',
  'x',
  'b',
  '',
];
const packet = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('3', '40{"token":"TOKEN"}', '420["room:join",{"chatNo":1}]') },
  fc.constantFrom(...PACKETS),
);
const body = fc.array(packet, { minLength: 1, maxLength: 3 }).map((packets) => packets.join('\x1e'));

/** A request of a session: a poll, a post or an upgrade as a client sends it, or with a part that does not fit. */
interface Given {
  kind: 'poll' | 'post' | 'upgrade';
  session: number;
  /** Instead of the usual one. */
  transport: string;
  method: string;
  /** Without the headers of a handshake, or with those of one. */
  isSwapped: boolean;
  odd: { headers: string[]; isUnclear: boolean };
  body: string;
}

const given: fc.Arbitrary<Given> = fc.record({
  kind: fc.constantFrom('poll' as const, 'post' as const, 'upgrade' as const),
  session: nat,
  transport: rarely('', fc.constantFrom('polling', 'websocket', 'webtransport', '__proto__')),
  method: rarely('', fc.constantFrom('GET', 'POST', 'OPTIONS', 'PUT', 'DELETE')),
  isSwapped: rarely(false, fc.constant(true)),
  odd: headers,
  body,
});

function requestOf(
  real: Transports,
  { kind, session, transport, method, isSwapped, odd, body }: Given,
): Request {
  return {
    ...odd,
    method: method || (kind === 'post' ? 'POST' : 'GET'),
    query: `EIO=4&transport=${transport || (kind === 'upgrade' ? 'websocket' : 'polling')}&sid=${real.session(session)}`,
    body: kind === 'post' ? body.replaceAll('TOKEN', real.token) : '',
    isUpgrade: (kind === 'upgrade') !== isSwapped,
  };
}

const handshake = fc.constantFrom('polling', 'polling', 'websocket').map((transport) =>
  step(
    `open(${transport})`,
    (real) =>
      real.handshake({
        ...EMPTY,
        query: `EIO=4&transport=${transport}`,
        isUpgrade: transport === 'websocket',
      }),
    true,
  ),
);

/** Frames as clients send them during an upgrade and afterwards, and as they should not. */
const frame = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('2probe', '5', '1').map((text) => [text]) },
  { weight: 2, arbitrary: fc.constant(['2probe', '5']) },
  { weight: 2, arbitrary: packet.map((text) => [text]) },
  fc.constantFrom(0x01, 0x80, 0x82, 0x88, 0x89, 0x8a, 0x83, 0xc1).map((first) => [first]),
);

const framing = fc.tuple(nat, frame).map(([index, list]) =>
  step(`frames(${index}, ${JSON.stringify(list)})`, (real) => {
    for (const one of list)
      real.frame(
        index,
        typeof one === 'number'
          ? clientFrame(Buffer.from('x'), { first: one })
          : clientFrame(Buffer.from(one.replaceAll('TOKEN', real.token))),
      );
  }),
);

const asking = fc
  .tuple(nat, given)
  .map(([wire, one]) =>
    step(`ask(${wire}, ${JSON.stringify(one)})`, (real) => real.ask(wire, [requestOf(real, one)])),
  );

const askingTwice = fc.tuple(nat, given, given).map(([wire, ...two]) =>
  step(`askTwice(${wire}, ${JSON.stringify(two)})`, (real) =>
    real.ask(
      wire,
      two.map((one) => requestOf(real, one)),
    ),
  ),
);

const half = fc
  .tuple(nat, given, fc.integer({ min: 1, max: 400 }))
  .map(([wire, one, cut]) =>
    step(`half(${wire}, ${JSON.stringify(one)}, -${cut})`, (real) =>
      real.ask(wire, [requestOf(real, one)], cut),
    ),
  );

const completing = nat.map((index) => step(`complete(${index})`, (real) => real.complete(index)));

const ending = fc
  .tuple(nat, fc.constantFrom('end' as const, 'destroy' as const))
  .map(([index, how]) => step(`${how}(${index})`, (real) => real.end(index, how)));

/** Without it, what follows may reach the gateway in the same turn. */
const turn = fc.constant(step('turn', (real) => real.turn()));

/** Steps in any order; the first opens a session. */
export const steps = fc.commands<Model, Transports, false>(
  [handshake, asking, asking, askingTwice, half, completing, framing, framing, turn, ending],
  { maxCommands: 20 },
);
