import { expect } from 'chai';
import type { Socket } from 'socket.io-client';
import type { z } from 'zod';
import type * as Published from '../../../docs/api/socket-events.js';
import type { ClientEvents, requests, ServerEvents } from '../../../gateway/protocol.js';
import { openRoom } from '../../support/chat.js';
import { socketOf } from '../../support/sockets.js';

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : never) : never;
type Fits<A, B> = [A] extends [B] ? true : never;
type Requests = typeof requests;

/** Compiles only if the published types are those of the gateway. */
const fits: {
  clientEvents: Same<keyof Published.ClientEvents, keyof ClientEvents>;
  serverEvents: Same<keyof Published.ServerEvents, keyof ServerEvents>;
  requests: {
    [E in keyof ClientEvents]: Fits<
      Parameters<Published.ClientEvents[E]>[0],
      z.input<Requests[E]['request']>
    >;
  };

  payloads: {
    [E in keyof ServerEvents]: Fits<Parameters<Published.ServerEvents[E]>[0], Parameters<ServerEvents[E]>[0]>;
  };
} = {
  clientEvents: true,
  serverEvents: true,
  requests: {
    'room:join': true,
    'room:leave': true,
    'message:send': true,
    'message:read': true,
    typing: true,
    'auth:refresh': true,
  },
  payloads: {
    message: true,
    'message:read': true,
    typing: true,
    presence: true,
    room: true,
    notification: true,
    drain: true,
    'auth:expiring': true,
    closing: true,
  },
};

describe('/socket-events.d.ts', () => {
  it('types a client of socket.io-client', async () => {
    const { asker, chatNo } = await openRoom();
    const socket: Socket<Published.ServerEvents, Published.ClientEvents> = await socketOf({
      auth: { token: asker.token },
    });
    const answer = await socket.emitWithAck('room:join', { chatNo });
    if (answer.status !== 200) throw new Error(String(answer.errors));
    const isAny: 0 extends 1 & typeof answer ? true : false = false;
    expect(isAny).to.equal(false);
    const { messages, from, seq } = answer;
    expect([messages, from, seq]).to.deep.equal([[], 'newest', 0]);
    expect(fits.clientEvents).to.equal(true);
  });
});
