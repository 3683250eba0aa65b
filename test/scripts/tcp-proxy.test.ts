import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect } from 'chai';
import { startTcpProxy } from '../../scripts/command/tcp-proxy.js';
import { eventually } from '../support/eventually.js';

describe('the proxy between a test and what it connects to', () => {
  it('keeps bytes in order when its delay ends while some are under way', async () => {
    let received = '';
    const server = createServer((socket) => {
      socket.on('data', (chunk) => {
        received += chunk;
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const proxy = await startTcpProxy(() => (server.address() as AddressInfo).port);
    const client = connect(proxy.port, '127.0.0.1').setNoDelay(true);
    await once(client, 'connect');
    try {
      proxy.delay = 100;
      client.write('first ');
      // The chunk has reached the proxy once another connection, opened later, has been answered.
      const other = connect(proxy.port, '127.0.0.1');
      await once(other, 'connect');
      await new Promise(setImmediate);
      proxy.delay = 0;
      client.write('second');
      await eventually(() => expect(received).to.equal('first second'));
      other.destroy();
    } finally {
      client.destroy();
      await proxy.close();
      server.close();
    }
  });
});
