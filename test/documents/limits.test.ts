// biome-ignore-all lint/style/noExcessiveLinesPerFile: one table of all limits
import { expect } from 'chai';
import { budgets } from '../../domain/platform/rate-limits/rate-limits.js';
import { filesUnder, textOf } from './documents.js';

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

const count = (value: number) => String(value);
const spelt = (value: number) => value.toLocaleString('en-US');
const kib = (bytes: number) => `${bytes / 1024} KiB`;
const mib = (bytes: number) => `${bytes / 1024 ** 2} MiB`;
const s = (ms: number) => `${ms / 1_000} s`;
const ms = (value: number) => `${value} ms`;
const min = (value: number) => `${value / 60_000} min`;
/** A number that a text spells out or paraphrases. */
const words = (known: number, text: string) => (value: number) =>
  value === known ? text : `${value} and not ${text}`;

const protocol = 'gateway/PROTOCOL.md';
const operations = 'docs/operations.md';
const openApi = 'docs/api/openapi.json';
const asyncApi = 'docs/api/asyncapi.json';
const legacy = 'docs/legacy-app.md';
const contract = 'docs/contract.md';
const decisions = (name: string) => `docs/decisions/${name}.md`;

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** A document with each value of JSON on one line. */
const text = (path: string) =>
  path.endsWith('.json') ? JSON.stringify(JSON.parse(textOf(path))) : textOf(path).replace(/\n(?=\S)/g, ' ');

/** Each limit, its format, and the phrases of documents that state it, with # in its place. */
const told: [
  constant: string,
  written: (value: number) => string,
  ...places: [path: string, phrase: string][],
][] = [
  // Sockets.
  [
    'gateway/server.ts CONNECT_TIMEOUT_MS',
    s,
    [protocol, 'not admitted within # is closed'],
    [contract, 'not entered the namespace after # is closed'],
    [asyncApi, 'not let in within # is closed'],
  ],
  ['gateway/server.ts MAX_FRAME', kib, [protocol, '| one frame | # |']],
  ['gateway/server.ts MAX_FRAME', count, [protocol, '"maxPayload":#}']],
  ['gateway/server.ts PING_INTERVAL_MS', count, [protocol, '"pingInterval":#,']],
  ['gateway/server.ts PING_TIMEOUT_MS', count, [protocol, '"pingTimeout":#,']],
  ['gateway/socketio-internals.ts MAX_BACKPRESSURE', mib, [protocol, 'closed once # waits for it']],
  [
    'gateway/connection.ts MAX_CONNECTIONS',
    count,
    [protocol, '| #; a further one closes the oldest |'],
    [decisions('identity'), '# connections.'],
  ],
  [
    'gateway/session-expiry.ts WARN_BEFORE_MS',
    words(60_000, 'A minute before'),
    [protocol, '#, `auth:expiring` arrives'],
    [asyncApi, '# the token ends'],
  ],
  [
    'gateway/compare-rooms.ts COMPARE_EVERY_MS',
    s,
    [operations, 'the comparison every # finds them'],
    ['docs/scaling.md', 'the head of each open room every #'],
    [decisions('delivery'), 'Every #, and when Redis is back'],
  ],
  [
    'domain/chat/room-changes.ts MIN_INTERVAL_MS',
    ms,
    [protocol, 'at most every # per room'],
    [asyncApi, 'at most one per room in #,'],
    [contract, 'every # at most, and the last state'],
  ],
  [
    'domain/chat/enter-room.ts MAX_CAUGHT_UP',
    count,
    [protocol, '| #, and 256 KiB of text |'],
    [contract, 'after that number (at most #)'],
    [protocol, 'at most #; without: the newest, at most #.'],
    [asyncApi, 'at most #, and'],
  ],
  [
    'domain/chat/enter-room.ts MAX_CAUGHT_UP_BYTES',
    kib,
    [protocol, '| 500, and # of text |'],
    [asyncApi, 'and # of text; oldest first'],
  ],
  // Messages.
  [
    'domain/chat/send-message.ts MAX_TEXT',
    count,
    [protocol, '| # UTF-16 code units |'],
    [openApi, '"maxLength":#'],
    [asyncApi, '"maxLength":#'],
  ],
  [
    'domain/chat/send-message.ts MAX_ADDRESS',
    count,
    [protocol, '| address of an image or picture | # characters |'],
  ],
  ['domain/chat/list-messages.ts MAX_LISTED', count, [openApi, 'returns the latest # messages']],
  ['domain/chat/list-messages.ts MAX_LISTED', spelt, [contract, 'the latest #, or as `limit`']],
  [
    'domain/chat/ledger.ts MAX_RUN',
    words(100, 'up to a hundred'),
    ['docs/scaling.md', 'its inserts of # messages'],
  ],
  [
    'domain/chat/notify-absent.ts MAX_QUEUED',
    spelt,
    [decisions('notifications'), 'Up to # messages wait in memory'],
  ],
  [
    'domain/chat/notify-absent.ts CLOSE_TIMEOUT_MS',
    s,
    [decisions('notifications'), 'A stop waits # for those under way'],
  ],
  [
    'domain/chat/recent-clients.ts RECENT_MS',
    words(1_800_000, '30 minutes'),
    [openApi, 'from this client in the last #'],
    [decisions('identity'), 'remembered for # with the member'],
  ],
  ['domain/chat/recent-clients.ts RECENT_MS', min, [operations, 'or # passed'], [contract, 'in the last #.']],
  // Community and adoption.
  [
    'domain/community/list-articles.ts MAX_AUTHORS',
    count,
    [decisions('community-rules'), 'takes the first # members'],
  ],
  [
    'http/community/articles.schema.ts MAX_TITLE',
    count,
    [decisions('community-rules'), '| title # characters,'],
    [openApi, '"maxLength":#'],
  ],
  [
    'http/community/articles.schema.ts MAX_CONTEXT',
    spelt,
    [decisions('community-rules'), 'characters, text #,'],
  ],
  ['http/community/articles.schema.ts MAX_URL', spelt, [decisions('community-rules'), 'address #,']],
  ['http/community/articles.schema.ts MAX_KEYWORD', count, [decisions('community-rules'), 'search word #;']],
  [
    'http/community/articles.schema.ts MAX_IMAGES',
    count,
    [decisions('community-rules'), '; # images;'],
    [openApi, '"maxItems":#'],
  ],
  [
    'http/community/articles.schema.ts MAX_CATEGORY',
    words(2 ** 31 - 1, '2^31-1'),
    [decisions('community-rules'), 'category 0 to #;'],
  ],
  ['http/community/articles.schema.ts MAX_PAGE', spelt, [decisions('community-rules'), 'page up to #']],
  [
    'http/community/articles.schema.ts MAX_PAGE',
    count,
    [openApi, '"minimum":1,"maximum":#,"type":"integer","default":1}'],
  ],
  [
    'http/community/articles.schema.ts MAX_SIZE',
    count,
    [openApi, '"minimum":1,"maximum":#,"type":"integer","default":10}'],
    [contract, '10 by default, at most #.'],
  ],
  ['http/community/comments.schema.ts MAX_CONTEXT', spelt, [decisions('community-rules'), ', comment #,']],
  [
    'domain/adoption/list-render-records.ts MAX_POSTS',
    spelt,
    [decisions('community-rules'), 'newest first, at most #,'],
    [openApi, 'at most #'],
  ],
  [
    'domain/adoption/list-render-records.ts FRESH_MS',
    s,
    [decisions('community-rules'), 'kept for # or twenty times'],
  ],
  // Notifications and the event stream.
  [
    'domain/notifications/list-notifications.ts MAX_LISTED',
    spelt,
    [decisions('notifications'), 'The list shows at most #'],
    [openApi, 'latest per room, at most #'],
  ],
  [
    'domain/notifications/list-notifications.ts MAX_READ',
    spelt,
    [decisions('notifications'), 'looks at most # back'],
  ],
  [
    'domain/notifications/notifier.ts MAX_CONTENT',
    count,
    ['scripts/announce.ts', 'at most # characters'],
    [decisions('import-and-verify'), '# characters'],
  ],
  [
    'domain/notifications/poll-missed.ts EVERY_MS',
    s,
    [decisions('notifications'), 'Every process polls every # for'],
  ],
  ['domain/notifications/poll-missed.ts PAGE', spelt, ['docs/scaling.md', 'up to # a look']],
  ['http/notifications/notifications.schema.ts MAX_IDS', count, [openApi, '"maxItems":#']],
  [
    'http/sse/stream.ts MAX_LAG',
    mib,
    [openApi, 'lags more than #'],
    [contract, 'lags by more than # is closed'],
    [operations, 'a reader # behind'],
    [decisions('notifications'), 'lags past # is closed'],
  ],
  [
    'http/sse/stream-hub.ts MAX_STREAMS',
    words(10, 'an eleventh'),
    [openApi, 'opens # one'],
    [operations, '# stream of a member'],
  ],
  ['http/sse/stream-hub.ts MAX_STREAMS', count, [contract, 'at most # streams']],
  [
    'http/sse/stream-hub.ts HEARTBEAT_MS',
    s,
    [openApi, 'A comment line comes every #.'],
    [contract, 'line is sent every #,'],
  ],
  // Requests.
  ['http/read-body.ts MAX_BODY', mib, [openApi, 'A body has at most #']],
  ['http/read-body.ts MAX_FORM', kib, [openApi, 'a form #']],
  ['http/server.ts MAX_HEAD', kib, [openApi, 'all headers #'], [legacy, 'may have #.']],
  // The sum of both.
  ['http/server.ts KEEP_ALIVE_MS', words(5_000, '6 s'), [operations, 'Idle connections stay open for #']],
  ['http/server.ts KEEP_ALIVE_SLACK_MS', words(1_000, 'one more'), [operations, 'open for 6 s, # than']],
  [
    'http/server.ts STALLED_MS',
    s,
    [openApi, 'takes nothing for #'],
    [operations, 'nothing of an answer or stream for #'],
    [operations, 'all for #, of an answer'],
    [decisions('notifications'), 'taken nothing for #.'],
  ],
  [
    'domain/members/verify-token.ts MAX_TOKEN_LENGTH',
    spelt,
    [openApi, 'a token # characters'],
    [decisions('identity'), 'more than # characters'],
  ],
  ['domain/members/authenticate.ts TRUSTED_MS', s, [decisions('identity'), 'remembered for #, because']],
  // Redis.
  ['domain/platform/redis/ioredis-internals.ts MAX_MESSAGE', mib, [operations, 'or larger than #']],
  [
    'domain/platform/redis/connection.ts CHECK_EVERY_MS',
    s,
    [decisions('shared-state'), 'Every # a process writes a key'],
  ],
  [
    'domain/platform/rate-limits/rate-limits.redis.ts SHARES',
    words(50, 'fifty'),
    [decisions('shared-state'), 'taken in # shares'],
  ],
  ['domain/kernel/redis-keys.ts ROOM_GROUPS', count, [decisions('shared-state'), 'put into # groups']],
];

/** Internal limits: no client can reach them, or they only split work into batches. */
const inner = new Set<string>([
  'domain/platform/rate-limits/rate-limits.redis.ts MAX_KEYS',
  'domain/platform/redis/clients.ts MAX_RETRY_DELAY_MS',
  'domain/platform/redis/echo.ts MAX_MISSED',
  'domain/platform/grouped-reads.ts MAX_GROUP',
  'domain/platform/grouped-reads.ts MAX_IN_FLIGHT',
  'domain/kernel/input.ts MAX_FAULTS',
  'domain/chat/room-changes.ts MAX_INTERVAL_MS',
  'domain/chat/room-changes.ts MAX_REMEMBERED',
  'domain/chat/room-states.ts MAX_STATES',
  'domain/chat/recent-clients.ts MAX_MEMBERS',
  'domain/chat/recent-clients.redis.ts MAX_CLIENTS',
  'domain/chat/ledger.ts MAX_ATTEMPTS',
  'domain/chat/ledger.ts MAX_WAIT_MS',
  'domain/chat/ledger.ts MAX_SHARED',
  'domain/chat/notify-absent.ts MAX_BATCH',
  'domain/notifications/deliver.ts MAX_DELIVERED',
  'domain/notifications/missing-ids.ts MAX_RANGES',
  'domain/notifications/notifier.ts MAX_GROUP',
  'domain/notifications/notifier.ts MAX_MEMBERS',
  'domain/notifications/verify-notifications.ts MAX_GAPS',
  'gateway/sequencer.ts MAX_READS',
  'gateway/sequencer.ts MAX_WAITING',
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
    for (const name of ['read', 'write', 'address', 'message'] as const)
      expect(rest).to.include(row(budgets[name]));
    for (const name of ['message', 'socketEvent', 'connect'] as const) {
      const { points, duration } = budgets[name];
      expect(textOf(protocol)).to.include(`| ${points} in ${duration} s |`);
    }
  });
});
