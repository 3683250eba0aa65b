import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Server, type Socket } from 'socket.io';
import { ChatApp } from '../../../scripts/prove/clients/chat-app.js';
import { HistoryFile } from '../../../scripts/prove/history-file.js';

describe('the chat app of a run', () => {
  it('ends a connection that is still catching up when it is closed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'adoption-test-chat-app-'));
    const history = new HistoryFile(join(folder, 'history.ndjson'));
    const http = createServer().listen(0, '127.0.0.1');
    await once(http, 'listening');
    const io = new Server(http);
    const { port } = http.address() as AddressInfo;
    try {
      const joining = new Promise<(ack: object) => void>((resolve) => {
        io.on('connection', (socket: Socket) => socket.on('room:join', (_, answer) => resolve(answer)));
      });
      const app = new ChatApp({
        ...{ history, client: 'm1.a', isDetoured: false, below: () => 0, onMessage() {}, onConnected() {} },
        account: { no: 1, nickname: 'one', email: 'one@example.org', token: 'token' },
        gateways: [{ name: 'gateway-0', door: 'gateway', base: `http://127.0.0.1:${port}` }],
      });
      await app.enter(7);
      const answer = await joining;
      const closed = app.close();
      answer({ status: 200, seq: 0, messages: [], present: [], more: false });
      await closed;
      expect(app.door).to.equal(undefined);
    } finally {
      await io.close();
      await history.close();
      rmSync(folder, { recursive: true });
    }
  });
});
