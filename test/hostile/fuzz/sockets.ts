import { expect } from 'chai';
import fc from 'fast-check';
import { z } from 'zod';
import { requests } from '../../../gateway/protocol.js';
import type { Client } from '../../support/sockets.js';
import { tokens } from './tokens.js';
import { near, type Schema, wild } from './values.js';

export interface Sent {
  event: string;
  args: unknown[];
  /** Without, nobody waits for an answer. */
  acknowledged: boolean;
}

const known = { chatNo: [1], seq: [0, 1, 2], contentType: ['text'] };

const events: [string, fc.Arbitrary<unknown>][] = Object.entries(requests).map(([event, { request }]) => [
  event,
  near(z.toJSONSchema(request, { io: 'input', unrepresentable: 'any' }) as Schema, { known }),
]);
const others = ['__proto__', 'hasOwnProperty', 'message', ''].map(
  (event): [string, fc.Arbitrary<unknown>] => [event, wild],
);

const sent: fc.Arbitrary<Sent> = fc.oneof(
  ...[...events, ['auth:refresh', tokens.map((token) => ({ token }))] as const, ...others].map(
    ([event, request]) =>
      fc.record({
        event: fc.constant(event),
        args: fc
          .tuple(request, fc.nat(9), wild)
          .map(([one, die, second]) => (die === 0 ? [] : die === 1 ? [one, second] : [one])),
        acknowledged: fc.nat(9).map((die) => die > 0),
      }),
  ),
);

/** Events of a Socket.IO client, one after another. */
export const eventLists: fc.Arbitrary<Sent[]> = fc.array(sent, { minLength: 1, maxLength: 4 });

/** @returns sends events over one connection, or its successor. @param open connects */
export function eventSender(open: () => Promise<Client>): (list: Sent[]) => Promise<void> {
  let client: Client | undefined;
  return async (list) => {
    if (!client?.socket.connected || client.heard('closing').length > 0) client = await open();
    const last = { event: 'room:join', args: [{ chatNo: 1 }], acknowledged: true };
    for (const { event, args, acknowledged } of [...list, last]) {
      if (!acknowledged) client.socket.emit(event, ...args);
      else {
        const answer = await client.ask(event, ...args).catch((error: Error) => error);
        // After a refresh with another member's token the server closes.
        if (client.heard('closing').length > 0) return;
        expect(answer).to.have.property('status').within(200, 499);
      }
    }
  };
}
