import { expect } from 'chai';
import { budgets } from '../../domain/platform/rate-limits/rate-limits.js';
import { loadConfig } from '../../domain/platform/settings/config.js';
import { filesUnder, tableOf, textOf } from './documents.js';
import { ofRecords } from './limits/of-records.js';
import { ofRequests } from './limits/of-requests.js';
import { ofSockets } from './limits/of-sockets.js';
import { mib, openApi, operations, protocol, spelt } from './limits/stated.js';

/** The value of a constant as its file writes it: a number, a product, `2 ** 31 - 1`, or text such as `'1mb'`. */
function constant(place: string): number {
  const [file = '', name = ''] = place.split(' ');
  const [, text] = new RegExp(`^(?:export )?const ${name}(?:: \\w+)? = (.+);$`, 'm').exec(textOf(file)) ?? [];
  const [, megabytes] = /^'(\d+)mb'$/.exec(text ?? '') ?? [];
  if (megabytes) return Number(megabytes) * 1024 ** 2;
  if (text === '2 ** 31 - 1') return 2 ** 31 - 1;
  if (!text || !/^[\d_]+(?: \* [\d_]+)*$/.test(text)) throw new Error(`${file} has no number ${name}`);
  return text.split('*').reduce((product, part) => product * Number(part.replaceAll('_', '')), 1);
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** A document with each value of JSON on one line. */
const text = (path: string) =>
  path.endsWith('.json') ? JSON.stringify(JSON.parse(textOf(path))) : textOf(path).replace(/\n(?=\S)/g, ' ');

/** All limits that documents state. */
const told = [...ofSockets, ...ofRecords, ...ofRequests];

/** Internal limits: no client can reach them, or they only split work into batches. */
const inner = new Set<string>([
  'domain/platform/rate-limits/rate-limits.redis.ts MAX_KEYS',
  'domain/platform/redis/clients.ts MAX_RETRY_DELAY_MS',
  'domain/platform/redis/echo.ts MAX_MISSED',
  'domain/platform/redis/reports.ts MAX_ENTRIES',
  'domain/platform/redis/reports.ts MAX_PUBLISHED',
  'domain/platform/async/grouped-reads.ts MAX_GROUP',
  'domain/platform/async/grouped-reads.ts MAX_IN_FLIGHT',
  'domain/kernel/input.ts MAX_FAULTS',
  'domain/chat/room-changes.ts MAX_INTERVAL_MS',
  'domain/chat/room-changes.ts MAX_REMEMBERED',
  'domain/chat/room-states.ts MAX_STATES',
  'domain/chat/uncertain-rooms.ts MAX_LATE',
  'domain/chat/uncleared-members.ts MAX_WAITING',
  'domain/chat/recent-clients.ts MAX_ROOMS',
  'domain/chat/recent-clients.redis.ts MAX_CLIENTS',
  'domain/chat/ledger.ts MAX_ATTEMPTS',
  'domain/chat/ledger.ts MAX_WAIT_MS',
  'domain/chat/shared-inserts.ts MAX_SHARED',
  'domain/chat/notify-absent.ts MAX_BATCH',
  'domain/notifications/deliver.ts MAX_DELIVERED',
  'domain/notifications/deliver.ts MAX_REPORTED',
  'domain/notifications/missing-ids.ts MAX_RANGES',
  'domain/notifications/notifier.ts MAX_GROUP',
  'domain/notifications/notifier.ts MAX_MEMBERS',
  'domain/notifications/verify-notifications.ts MAX_GAPS',
  'gateway/order/sequencer.ts MAX_READS',
  'gateway/order/sequencer.ts MAX_WAITING',
  'http/demo/introduce-members.ts MAX_MEMBERS',
  'http/demo/introduce-members.ts MAX_POSTS',
]);

describe('limits', () => {
  for (const [place, written, ...texts] of told) {
    it(`are documented: ${place}`, () => {
      for (const [path, phrase] of texts) {
        const [before = '', ...behind] = phrase.split('#');
        expect(behind, phrase).to.not.be.empty;
        const number = written(constant(place));
        const line = [before, ...behind].map(escaped).join(`(?<![\\d.,])${escaped(number)}(?![\\d.,]*\\d)`);
        expect(text(path), `${number} in ${path}`).to.match(new RegExp(line));
      }
    });
  }

  it('are all documented, or listed as internal', () => {
    const files = ['domain', 'gateway', 'http'].flatMap(filesUnder).filter((path) => path.endsWith('.ts'));
    const all = files.flatMap((file) =>
      [...textOf(file).matchAll(/^(?:export )?const (MAX_\w+)/gm)].map(([, name]) => `${file} ${name}`),
    );
    expect(all.length).to.be.greaterThan(30);
    const known = new Set([...told.map(([place]) => place), ...inner]);
    expect(all.filter((place) => !known.has(place))).to.deep.equal([]);
    expect([...inner].filter((place) => !all.includes(place))).to.deep.equal([]);
  });

  it('on requests are in the published descriptions', () => {
    const rest = textOf(openApi);
    const row = ({ points, duration }: { points: number; duration: number }) =>
      `${spelt(points)} in ${duration} s`;
    for (const name of ['read', 'list', 'search', 'write', 'address', 'message'] as const)
      expect(rest).to.include(row(budgets[name]));
    expect(rest).to.include(`${spelt(budgets.bytes.points)} bytes in ${budgets.bytes.duration} s`);
    for (const name of ['message', 'socketEvent'] as const) {
      const { points, duration } = budgets[name];
      expect(textOf(protocol)).to.include(`| ${points} in ${duration} s |`);
    }
  });

  it('of connections and frames have their default in the protocol', () => {
    const { SOCKET_FRAMES, SOCKET_BYTES, SOCKET_HANDSHAKES, SOCKET_UNADMITTED, SOCKET_CONNECTIONS } =
      loadConfig({}, '/nonexistent');
    for (const line of [
      `| connects of one address to one process | ${SOCKET_HANDSHAKES} in 10 s |`,
      `| connections of one address to one process that are not admitted yet | ${SOCKET_UNADMITTED} |`,
      `| all connections of one address to one process | ${SOCKET_CONNECTIONS}; a further one is refused |`,
      `| frames of one member to one process, packets of long-polling | ${SOCKET_FRAMES} in 10 s |`,
      `| bytes of one member to one process | ${mib(SOCKET_BYTES)} in 10 s |`,
    ])
      expect(textOf(protocol)).to.include(line);
  });
});

describe('the table of limits for operators', () => {
  const head = '| limit | of | default | beyond it | setting | `RATE_LIMIT=off` |';
  const rows = tableOf(operations, head);

  it('says of each whether RATE_LIMIT=off lifts it', () => {
    expect(rows.length).to.be.greaterThan(35);
    expect(rows.filter((row) => row.length !== 6 || !/^(?:lifted|stays)/.test(row[5] ?? ''))).to.deep.equal(
      [],
    );
  });

  it('has every budget of requests', () => {
    const lifted = rows.filter(([, , , , , off]) => off === 'lifted').map(([, , size = '']) => size);
    for (const [name, { points, duration }] of Object.entries(budgets)) {
      const isSize = (size: string) => size.split('; ').some((one) => one.split(' ')[0] === spelt(points));
      expect(
        lifted.filter((size) => isSize(size) && size.endsWith(` in ${duration} s`)),
        name,
      ).not.to.be.empty;
    }
  });

  it('has the default of each setting', () => {
    const defaults = loadConfig({}, '/nonexistent') as unknown as Record<string, unknown>;
    for (const [limit, , size = '', , settings = ''] of rows)
      for (const [, name = ''] of settings.matchAll(/`(\w+)`/g)) {
        const value = defaults[name];
        if (typeof value !== 'number') continue;
        const forms = [spelt(value), mib(value), `${value} MiB`];
        expect(
          forms.some((form) => size.includes(form)),
          `${limit}: ${name}`,
        ).to.equal(true);
      }
  });
});
