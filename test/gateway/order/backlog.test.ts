import { EventEmitter } from 'node:events';
import { expect } from 'chai';
import {
  type Connection,
  limitBacklog,
  MAX_BACKPRESSURE,
} from '../../../gateway/engine/engineio-internals.js';

describe('what waits for a slow reader', () => {
  /** A connection whose socket holds so many bytes; `add` is Engine.IO's creation of a packet. */
  function open(unsent: number) {
    let closed = 0;
    const connection = Object.assign(new EventEmitter(), {
      transport: {},
      close: () => {
        closed += 1;
      },
    });
    limitBacklog(connection as unknown as Connection, () => unsent);
    return {
      add: (bytes: number) => connection.emit('packetCreate', { data: 'x'.repeat(bytes) }),
      flush: () => connection.emit('flush'),
      closed: () => closed,
    };
  }

  it('is what Engine.IO holds and what the socket holds, together', () => {
    const { add, closed } = open(MAX_BACKPRESSURE / 2);
    add(MAX_BACKPRESSURE / 2);
    add(1);
    expect(closed(), 'as much as may wait').to.equal(0);
    add(1);
    expect(closed()).to.equal(1);
  });

  it('is over the limit in either place alone', () => {
    const socket = open(MAX_BACKPRESSURE + 1);
    socket.add(1);
    expect(socket.closed()).to.equal(1);
    const held = open(0);
    held.add(MAX_BACKPRESSURE + 1);
    held.add(1);
    expect(held.closed()).to.equal(1);
  });

  it('is forgotten once Engine.IO has given it to the socket', () => {
    const { add, flush, closed } = open(0);
    for (let i = 0; i < 5; i += 1) {
      add(MAX_BACKPRESSURE);
      flush();
    }
    add(1);
    expect(closed()).to.equal(0);
  });
});
