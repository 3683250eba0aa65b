import { expect } from 'chai';
import { budgets } from '../../domain/platform/rate-limits/rate-limits.js';
import { loadConfig } from '../../domain/platform/settings/config.js';
import { textOf } from './documents.js';

const protocol = textOf('gateway/PROTOCOL.md');

/** docs/operations.md has its table from the constants themselves (`npm run docs`). */
describe('limits in the descriptions for clients', () => {
  it('on requests are those of the code', () => {
    const rest = textOf('docs/api/openapi.json');
    const within = ({ points, duration }: { points: number; duration: number }, of = '') =>
      `${points.toLocaleString('en-US')}${of} in ${duration} s`;
    for (const name of ['read', 'list', 'search', 'write', 'address', 'message'] as const)
      expect(rest).to.include(within(budgets[name]));
    expect(rest).to.include(within(budgets.bytes, ' bytes'));
    for (const name of ['message', 'socketEvent'] as const)
      expect(protocol).to.include(`| ${within(budgets[name])} |`);
  });

  it('of connections and frames have their default in the protocol', () => {
    const { SOCKET_FRAMES, SOCKET_BYTES, SOCKET_HANDSHAKES, SOCKET_UNADMITTED, SOCKET_CONNECTIONS } =
      loadConfig({}, '/nonexistent');
    for (const line of [
      `| connects of one address to one process | ${SOCKET_HANDSHAKES} in 10 s |`,
      `| connections of one address to one process that are not admitted yet | ${SOCKET_UNADMITTED} |`,
      `| all connections of one address to one process | ${SOCKET_CONNECTIONS}; a further one is refused |`,
      `| frames of one member to one process, packets of long-polling | ${SOCKET_FRAMES} in 10 s |`,
      `| bytes of one member to one process | ${SOCKET_BYTES / 1024 ** 2} MiB in 10 s |`,
    ])
      expect(protocol).to.include(line);
  });
});
