import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { OVERLOADED } from '../../../domain/platform/process/overload.js';
import { waitForReadyz } from '../../../scripts/cluster/readyz.js';
import {
  forgetUnfinished,
  planReload,
  readUnfinished,
  valuesBefore,
  writeUnfinished,
} from '../../../scripts/cluster/unfinished-reload.js';

const failure = (call: Promise<void>) =>
  call.then(
    () => expect.fail('the call succeeded'),
    ({ message }: Error) => message,
  );

describe('a reload', () => {
  const serving = [1, 2, 3, 4].map((id) => ({ id }));
  const ids = (processes: { id: number }[]) => processes.map(({ id }) => id);

  it('replaces all, or what an ended one left, or what that had touched', () => {
    // It ended at process 2; 9 was removed since.
    const unfinished = { touched: { 1: {}, 2: { LOG_LEVEL: 'info' }, 9: {} }, ready: [1] };
    expect(ids(planReload('all', serving, unfinished))).to.deep.equal([1, 2, 3, 4]);
    expect(ids(planReload('resume', serving, unfinished))).to.deep.equal([2, 3, 4]);
    expect(ids(planReload('back', serving, unfinished))).to.deep.equal([1, 2]);
    for (const mode of ['resume', 'back'] as const)
      expect(() => planReload(mode, serving, undefined)).to.throw(
        `reload --${mode}: the last reload was completed, or none was begun`,
      );
  });

  it('notes how far it is, for this user alone, until it is completed', () => {
    const home = mkdtempSync(join(tmpdir(), 'adoption-unfinished-'));
    try {
      expect(readUnfinished(home)).to.equal(undefined);
      const reload = {
        touched: { 3: valuesBefore({ A: '1', B: '2' }, { A: '1', B: '3', C: '4' }) },
        ready: [],
      };
      expect(reload.touched[3]).to.deep.equal({ B: '2', C: '' });
      writeUnfinished(home, reload);
      expect(readUnfinished(home)).to.deep.equal(reload);
      expect(statSync(join(home, 'unfinished-reload.json')).mode & 0o777).to.equal(0o600);
      forgetUnfinished(home);
      expect(readUnfinished(home)).to.equal(undefined);
    } finally {
      rmSync(home, { recursive: true });
    }
  });

  describe('waits for /readyz', () => {
    let server: Server;
    let faults: (string | undefined)[];
    let said: string[];
    const wait = (ms?: number) =>
      waitForReadyz(
        { HOST: '127.0.0.1' },
        (server.address() as AddressInfo).port,
        (line) => said.push(line),
        ms,
      );
    before((done) => {
      server = createServer((_request, response) => {
        const fault = faults.length > 1 ? faults.shift() : faults[0];
        response.statusCode = fault ? 503 : 200;
        response.end(JSON.stringify({ status: response.statusCode, errors: [fault] }, undefined, 2));
      }).listen(0, '127.0.0.1', done);
    });
    after(() => server.close());
    beforeEach(() => {
      said = [];
    });

    it('until an overload is over, and says so once', async () => {
      faults = [OVERLOADED, OVERLOADED, undefined];
      await wait();
      expect(said).to.deep.equal(['overloaded: waits for up to 30 s']);
    });

    it('and goes on if the overload lasts', async () => {
      faults = [OVERLOADED];
      await wait(150);
      expect(said).to.deep.equal(['overloaded: waits for up to 1 s', 'still overloaded: goes on']);
    });

    it('and fails in one line for any other reason', async () => {
      faults = ['Redis does not answer'];
      expect(await failure(wait(150))).to.match(
        /^http:\/\/127\.0\.0\.1:\d+\/readyz answers 503: .*"Redis does not answer".*$/,
      );
    });
  });
});
