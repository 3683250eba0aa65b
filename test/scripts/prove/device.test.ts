import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Device } from '../../../scripts/prove/clients/device.js';
import { HistoryFile } from '../../../scripts/prove/history-file.js';

describe('a client of a run', () => {
  it('decides the same afterwards, however often it had to push a message again', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'adoption-test-device-'));
    const history = new HistoryFile(join(folder, 'history.ndjson'));
    let pushes = 0;
    const http = createServer((_, response) => {
      pushes += 1;
      response.statusCode = pushes < 3 ? 429 : 200;
      response.end(pushes < 3 ? '{"message":"TOO_MANY_REQUESTS"}' : '{"id":"x"}');
    }).listen(0, '127.0.0.1');
    await once(http, 'listening');
    const account = { no: 1, nickname: 'one', email: 'one@example.org', token: 'token' };
    let decisions = 0;
    const device = new Device({
      ...{ client: 'm1.r', kind: 'rest', hasStream: false, isDetoured: false, account, history, others: [] },
      community: { run: 'prove-1', members: [account], rooms: [], articles: [], published: [] },
      servers: [
        { name: 'http-0', door: 'http', base: `http://127.0.0.1:${(http.address() as AddressInfo).port}` },
      ],
      choose: () => {
        decisions += 1;
        return 0;
      },
      below: () => 0,
    });
    await device.send({ room: 7, key: 'k', content: 'hello' });
    expect({ pushes, decisions, sent: device.sent.length }).to.deep.equal({
      pushes: 3,
      decisions: 0,
      sent: 1,
    });
    await device.close();
    http.close();
    await history.close();
    rmSync(folder, { recursive: true });
  });
});
