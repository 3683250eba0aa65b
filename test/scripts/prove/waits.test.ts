import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { isReady } from '../../../scripts/load/installation.js';
import { emptyCommunity } from '../../../scripts/prove/community.js';
import { writeHeader } from '../../../scripts/prove/header.js';
import { HistoryFile } from '../../../scripts/prove/history-file.js';

describe('a run that waits for a process which never answers', () => {
  let server: Server;
  let port: number;
  const sockets: Socket[] = [];
  before(async () => {
    server = createServer((socket) => sockets.push(socket.on('error', () => {}))).listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
  });
  after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });

  it('takes it for not ready, and its version for unknown', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'adoption-test-waits-'));
    const path = join(folder, 'history.ndjson');
    const history = new HistoryFile(path);
    const served = { name: 'http-0', door: 'http', base: `http://127.0.0.1:${port}` } as const;
    const header = writeHeader(history, [served], emptyCommunity('prove-1', []), 1, {});
    expect(await isReady(port)).to.equal(false);
    await header;
    await history.close();
    expect(JSON.parse(readFileSync(path, 'utf8'))).to.include({ e: 'header', version: 'unknown' });
    rmSync(folder, { recursive: true });
  });
});
