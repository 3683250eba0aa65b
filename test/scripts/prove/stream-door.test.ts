import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { StreamDoor } from '../../../scripts/prove/clients/stream-door.js';
import { HistoryFile } from '../../../scripts/prove/history-file.js';
import { linesOf, readHistory } from './complete-history.js';

describe('an event stream of a run', () => {
  it('records events without a number, and resumes after the last that had one', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'adoption-test-stream-door-'));
    const path = join(folder, 'history.ndjson');
    const history = new HistoryFile(path);
    const resumed: unknown[] = [];
    const http = createServer((request, response) => {
      resumed.push(request.headers['last-event-id']);
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      const data = JSON.stringify({ id: 1, type: 'chat', content: 'hello', url: '/', checked: false });
      response.write(
        `data: EventStream Created. [userId=1]\n\nid: 1_7\ndata: ${data}\n\ndata: ${data}\n\nid: 1_x\ndata: ${data}\n\n`,
      );
      response.end();
      http.emit('answered', resumed.length);
    }).listen(0, '127.0.0.1');
    await once(http, 'listening');
    const base = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
    const account = { no: 1, nickname: 'one', email: 'one@example.org', token: 'token' };
    const address = () => ({ name: 'http-0', door: 'http' as const, base });
    try {
      const door = new StreamDoor(history, account, 'm1.a', address, () => 0);
      while (resumed.length < 2) await once(http, 'answered');
      await door.close();
      await history.close();
      const lines = readHistory(path);
      expect(resumed.slice(0, 2)).to.deep.equal([undefined, '1_7']);
      const numbers = linesOf(lines, 'delivery').map((line) => (line.door === 'stream' ? line.n : undefined));
      expect(numbers.slice(0, 3)).to.deep.equal([7, null, null]);
    } finally {
      http.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
