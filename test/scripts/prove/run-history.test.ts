import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { HistoryFile } from '../../../scripts/prove/history-file.js';
import { refusalOf } from '../../../scripts/run-accounts/rest.js';

const asker = { client: 'm1.a', member: 1, process: 'gateway-0', door: 'socket' } as const;

describe('the history of a run', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'adoption-test-history-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('has the lines in the order of the calls, and the first outcome of an operation only', async () => {
    const path = join(folder, 'history.ndjson');
    const history = new HistoryFile(path);
    const send = history.begin(asker, 'send', { room: 7, key: 'k', content: 'hello' });
    const read = history.begin(asker, 'read', { room: 7, seq: 1 });
    send.info('timeout');
    send.ok({ id: 'x', seq: 1 });
    read.fail(403, 'FORBIDDEN');
    history.write({ e: 'closed', client: 'm1.a', door: 'socket', reason: 'transport close' });
    await history.close();
    const lines = readFileSync(path, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ t: _, ...line }) => line)).to.deep.equal([
      { e: 'invoke', op: 1, f: 'send', ...asker, room: 7, key: 'k', content: 'hello' },
      { e: 'invoke', op: 2, f: 'read', ...asker, room: 7, seq: 1 },
      { e: 'info', op: 1, reason: 'timeout' },
      { e: 'fail', op: 2, status: 403, code: 'FORBIDDEN' },
      { e: 'closed', client: 'm1.a', door: 'socket', reason: 'transport close' },
    ]);
    const times = lines.map(({ t }) => t as number);
    expect(times).to.deep.equal([...times].sort((a, b) => a - b));
  });

  it('tells at once, and at its end, that it cannot be written, and why', async () => {
    const told = await new Promise<Error>((resolve) => {
      const history = new HistoryFile('/dev/full', resolve);
      history.write({ e: 'phase', phase: 'traffic' });
    });
    expect(told.message).to.match(
      /^the history \/dev\/full cannot be written: ENOSPC: no space left on device/,
    );
    const missing = new HistoryFile(join(folder, 'missing', 'history.ndjson'));
    const error = await missing.close().then(
      () => undefined,
      (fault: Error) => fault,
    );
    expect(error?.message).to.match(/missing\/history.ndjson cannot be written: ENOENT/);
  });

  it('takes a refusal for certain if it is a 4xx or of an overloaded process', () => {
    const certain = (status: number, errors: string[] = []) =>
      refusalOf({ message: 'CODE', errors }, status).isCertain;
    expect(certain(404)).to.equal(true);
    expect(certain(503, ['this process is overloaded'])).to.equal(true);
    expect(certain(503, ['the service is not available right now'])).to.equal(false);
    expect(certain(500)).to.equal(false);
  });
});
