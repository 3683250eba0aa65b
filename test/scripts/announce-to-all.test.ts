import { expect } from 'chai';
import type { Domain } from '../../domain/domain.js';
import { announceToAll } from '../../scripts/announce/announce-to-all.js';
import { printed } from '../support/output.js';

/** A domain of so many members; `already` have the announcement. */
function membersOf(count: number, already: number[] = [], onNotice = (_: number) => {}) {
  const notices: { memberNo: number; cause: string }[] = [];
  const batches: number[] = [];
  const domain = {
    members: {
      directory: {
        count: async () => count,
        async *allNumbers(batch: number) {
          for (let no = 1; no <= count; no += batch) {
            const numbers = Array.from({ length: Math.min(batch, count - no + 1) }, (_, i) => no + i);
            batches.push(numbers.length);
            yield numbers;
          }
        },
      },
    },
    notifications: {
      async notify(notice: { memberNo: number; cause: string }) {
        notices.push(notice);
        onNotice(notice.memberNo);
        return !already.includes(notice.memberNo);
      },
    },
  } as unknown as Domain;
  return { domain, notices, batches };
}

const announcement = { key: '0123456789ab', content: 'Open on Sunday', url: '/board/3' };
const KEY = 'key 0123456789ab (if interrupted: the same command with --resume 0123456789ab)\n';

describe('An announcement', () => {
  it('reaches every member, 500 at a time, with its key in the cause', async () => {
    const { domain, notices, batches } = membersOf(1_001, [3, 700]);
    expect(await printed(() => announceToAll(domain, announcement))).to.deep.equal({
      result: 0,
      stdout: '999 members notified, 2 had been notified before\n',
      stderr: KEY,
    });
    expect(notices.map(({ memberNo }) => memberNo)).to.deep.equal(
      Array.from({ length: 1_001 }, (_, i) => i + 1),
    );
    expect(batches).to.deep.equal([500, 500, 1]);
    expect(notices[1_000]).to.deep.equal({
      memberNo: 1_001,
      type: 'announcement',
      content: 'Open on Sunday',
      url: '/board/3',
      originNo: 0,
      cause: 'announcement:0123456789ab',
    });
  });

  it('ends after the batch in which Ctrl-C came, and says so', async () => {
    const listeners = process.listenerCount('SIGINT');
    const { domain, notices } = membersOf(1_200, [], (no) => {
      if (no !== 10) return;
      process.emit('SIGINT');
      // npm passes it on: without a handler, the second one would end the process.
      expect(process.emit('SIGINT')).to.equal(true);
      expect(process.listenerCount('SIGINT')).to.equal(listeners + 1);
    });
    expect(await printed(() => announceToAll(domain, announcement))).to.deep.equal({
      result: 130,
      stdout: 'interrupted: 500 members notified\n',
      stderr: KEY,
    });
    expect(notices).to.have.length(500);
    expect(process.listenerCount('SIGINT')).to.equal(listeners);
  });

  it('removes its signal handler when it fails', async () => {
    const listeners = process.listenerCount('SIGINT');
    const { domain } = membersOf(3, [], () => {
      throw new Error('database away');
    });
    const { result } = await printed(() =>
      announceToAll(domain, announcement).catch((error: Error) => error.message),
    );
    expect(result).to.equal('database away');
    expect(process.listenerCount('SIGINT')).to.equal(listeners);
  });
});
