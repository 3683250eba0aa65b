import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { WebSocketServer } from 'ws';
import { ReturningClient } from '../../../scripts/load/clients/returning-client.js';
import { createLatencies } from '../../../scripts/load/latency.js';
import { nowMicros, stampedText } from '../../../scripts/load/stamp.js';
import { eventually } from '../../support/eventually.js';

describe('a load client that comes back', () => {
  // Each attempt used to start the clock anew: a server that refused twice looked as fast as one that did not.
  it('takes as long as from its first attempt until what it missed arrives', async () => {
    const server = createServer();
    const sockets = new WebSocketServer({ noServer: true });
    let refusals = 0;
    let firstAttempt = Number.POSITIVE_INFINITY;
    server.on('upgrade', (request, socket, head) => {
      if (refusals > 0) {
        refusals -= 1;
        firstAttempt = Math.min(firstAttempt, nowMicros());
        socket.end('HTTP/1.1 503 Service Unavailable\r\n\r\n');
      } else sockets.handleUpgrade(request, socket, head, (ws) => sockets.emit('connection', ws));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const catchUp = createLatencies();
    const targets = [{ kind: 'plain' as const, host: '127.0.0.1', port }];
    const client = new ReturningClient({}, 0, { targets, delayMs: 20, catchUp });
    try {
      await client.opened;
      const dueAt = nowMicros();
      let sentAt = 0;
      sockets.once('connection', (ws) => {
        sentAt = nowMicros();
        ws.send(stampedText(50, dueAt));
      });
      refusals = 2;
      client.cut(0);
      await eventually(() => expect(catchUp.totalCount).to.equal(1));
      // A hundredth is the histogram's precision.
      expect(catchUp.maxValue).to.be.at.least((sentAt - firstAttempt) * 0.99);
      expect([...client.received]).to.deep.equal([Math.round(dueAt)]);
    } finally {
      client.cut();
      sockets.close();
      server.close();
    }
  });
});
