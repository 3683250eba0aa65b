import { MAX_POSTS, MAX_BYTES as MAX_POSTS_BYTES } from '../../domain/adoption/list-render-records.js';
import { MAX_CAUGHT_UP, MAX_CAUGHT_UP_BYTES } from '../../domain/chat/enter-room.js';
import { MAX_LISTED as MAX_MESSAGES } from '../../domain/chat/list-messages.js';
import { MAX_ADDRESS, MAX_TEXT } from '../../domain/chat/send-message.js';
import { MAX_TEXT as MAX_PAGE_TEXT } from '../../domain/community/list-articles.js';
import { MAX_WAITING_SEARCHES } from '../../domain/domain.js';
import { MAX_LIST_BYTES } from '../../domain/kernel/list-size.js';
import { FETCH_MS, MAX_SET } from '../../domain/members/remote-keys.js';
import { MAX_NAME, MAX_PICTURE } from '../../domain/members/shown-claims.js';
import { MAX_TOKEN_LENGTH } from '../../domain/members/verify-token.js';
import { MAX_LISTED as MAX_NOTIFICATIONS } from '../../domain/notifications/list-notifications.js';
import { QUERY_MS } from '../../domain/platform/mongo/query-time.js';
import { HEAP_FULL, QUEUE } from '../../domain/platform/process/overload.js';
import { type BudgetSize, budgets } from '../../domain/platform/rate-limits/rate-limits.js';
import { MAX_MESSAGE } from '../../domain/platform/redis/ioredis-internals.js';
import { loadConfig, MOST_COMMENTS } from '../../domain/platform/settings/config.js';
import { MAX_CONNECTIONS } from '../../gateway/connection/connection.js';
import { MAX_BACKPRESSURE } from '../../gateway/engine/engineio-internals.js';
import {
  BYTES_PER_HANDSHAKE,
  FRAMES_PER_HANDSHAKE,
  MAX_BYTES_UNADMITTED,
  MAX_FRAMES_UNADMITTED,
} from '../../gateway/limits/connection-limits.js';
import {
  CONNECT_TIMEOUT_MS,
  MAX_FRAME,
  PING_INTERVAL_MS,
  PING_TIMEOUT_MS,
  TCP_PER_SOCKET,
} from '../../gateway/server.js';
import { MAX_CONTEXT, MAX_IMAGES, MAX_SIZE, MAX_TITLE } from '../../http/community/articles.schema.js';
import { MAX_CONTEXT as MAX_COMMENT } from '../../http/community/comments.schema.js';
import { MAX_WAITING } from '../../http/connections.js';
import { MAX_IDS } from '../../http/notifications/notifications.schema.js';
import { MAX_ARTICLE_BODY, MAX_BODY, MAX_DEPTH, MAX_FORM, MAX_VALUES } from '../../http/read-body.js';
import {
  ANSWER_MS,
  HEADERS_TIMEOUT_MS,
  MAX_HEAD,
  REQUEST_TIMEOUT_MS,
  STALLED_MS,
} from '../../http/server.js';
import { TOO_MANY_RETRY_MS } from '../../http/sse/event-format.js';
import { MAX_LAG } from '../../http/sse/stream.js';
import { MAX_STREAMS } from '../../http/sse/stream-hub.js';

const n = (count: number): string => count.toLocaleString('en-US');
const s = (ms: number): string => `${n(ms / 1_000)} s`;
const kib = (bytes: number): string => `${n(bytes / 1024)} KiB`;
const mib = (bytes: number): string => `${n(bytes / 1024 ** 2)} MiB`;
const within = ({ points, duration }: BudgetSize): string => `${n(points)} in ${duration} s`;

export const LIMITS_HEAD = '| limit | of | default | beyond it | setting | `RATE_LIMIT=off` |';

/** The rows of the table of limits for operators, with their defaults. */
export function limitRows(): string {
  const defaults = loadConfig({}, '/nonexistent');
  const connects = `for each of its ${n(defaults.SOCKET_HANDSHAKES)} connects, in 10 s`;
  return `| requests, preflights and probes included | an address | ${within(budgets.address)} | 429, after 250 ms | | lifted |
| bytes of bodies, of compressed ones as sent and as decompressed | an address | ${within(budgets.bytes)} | 429 | | lifted |
| reads; writes | a member; without a token, an address | ${n(budgets.read.points)}; ${within(budgets.write)} | 429 | | lifted |
| lists of rooms, messages and notifications: none of them counts as a read | a member | ${within(budgets.list)} | 429 | | lifted |
| searches of articles, each also a read | a member; without a token, an address | ${within(budgets.search)} | 429 | | lifted |
| searches of articles at once | an http process | ${defaults.SEARCHES_AT_ONCE}, and ${MAX_WAITING_SEARCHES} wait | 429 | \`SEARCHES_AT_ONCE\` | lifted |
| messages, by socket and REST | a member | ${within(budgets.message)} | 429, in acknowledgements too | | lifted |
| other events of sockets, unknown ones included | a member | ${within(budgets.socketEvent)} | 429 in acknowledgements | | lifted |
| rooms opened, if new | a member, in 24 h | ${n(defaults.ROOMS_PER_DAY)} | 429 \`QUOTA_EXCEEDED\` | \`ROOMS_PER_DAY\` | lifted |
| messages stored | a member, in 24 h | ${n(defaults.MESSAGES_PER_DAY)} | 429 \`QUOTA_EXCEEDED\` | \`MESSAGES_PER_DAY\` | lifted |
| articles published | a member, in 24 h | ${n(defaults.ARTICLES_PER_DAY)} | 429 \`QUOTA_EXCEEDED\` | \`ARTICLES_PER_DAY\` | lifted |
| comments written | a member, in 24 h | ${n(defaults.COMMENTS_PER_DAY)} | 429 \`QUOTA_EXCEEDED\` | \`COMMENTS_PER_DAY\` | lifted |
| comments and replies | an article | ${n(defaults.ARTICLE_COMMENTS)} | 409 \`COMMENTS_FULL\` | \`ARTICLE_COMMENTS\` | lifted, to ${n(MOST_COMMENTS)} |
| connects | an address, one gateway | ${n(defaults.SOCKET_HANDSHAKES)} in 10 s | 429, and the connection is closed | \`SOCKET_HANDSHAKES\` | lifted |
| preflights, probes and other requests | an address, one gateway | ${FRAMES_PER_HANDSHAKE} ${connects} | 429, and the connection is closed | \`SOCKET_HANDSHAKES\` | lifted |
| connections not admitted yet | an address, one gateway | ${n(defaults.SOCKET_UNADMITTED)} | 429 | \`SOCKET_UNADMITTED\` | lifted |
| connections, admitted or not | an address, one gateway | ${n(defaults.SOCKET_CONNECTIONS)} | 429 | \`SOCKET_CONNECTIONS\` | lifted |
| connections of TCP, idle ones included, without \`TRUST_PROXY\`, on ws | an address, one gateway | ${TCP_PER_SOCKET} for each of its ${n(defaults.SOCKET_CONNECTIONS)} connections | closed | \`SOCKET_CONNECTIONS\` | lifted |
| connections, event streams included | an address, one http process; not behind a proxy | ${n(defaults.HTTP_CONNECTIONS)} | closed | \`HTTP_CONNECTIONS\` | lifted |
| time until a connection is admitted | a connection | ${s(CONNECT_TIMEOUT_MS)} | closed | | stays |
| connections | a member, one gateway | ${MAX_CONNECTIONS} | the oldest is closed | | lifted |
| event streams | a member, one http process | ${MAX_STREAMS} | the newest ends, told to come back after ${s(TOO_MANY_RETRY_MS)} | | lifted |
| frames; bytes | a member, one gateway | ${n(defaults.SOCKET_FRAMES)}; ${mib(defaults.SOCKET_BYTES)} in 10 s | the connection that sends is closed | \`SOCKET_FRAMES\`, \`SOCKET_BYTES\` | lifted |
| frames; bytes before the admission | a connection | ${MAX_FRAMES_UNADMITTED}; ${kib(MAX_BYTES_UNADMITTED)} | closed | | lifted |
| the same of all connections | an address, one gateway | ${FRAMES_PER_HANDSHAKE}; ${kib(BYTES_PER_HANDSHAKE)} ${connects} | the connection that sends is closed | \`SOCKET_HANDSHAKES\` | lifted |
| one frame | a connection | ${kib(MAX_FRAME)} | closed | | stays |
| unread events | a socket; an event stream | ${mib(MAX_BACKPRESSURE)}; ${mib(MAX_LAG)} | closed | | stays |
| time without an answer to a ping | a socket | ${s(PING_INTERVAL_MS + PING_TIMEOUT_MS)} | closed | | stays |
| line and headers | a request | ${kib(MAX_HEAD)} | 431 | | stays |
| body; of an article; form | a request | ${kib(MAX_BODY)}; ${mib(MAX_ARTICLE_BODY)}; ${kib(MAX_FORM)} | 413 | | stays |
| levels; values of JSON | a request | ${MAX_DEPTH}; ${n(MAX_VALUES)} | 400 | | stays |
| time for the headers; for all of it | a request | ${s(HEADERS_TIMEOUT_MS)}; ${s(REQUEST_TIMEOUT_MS)} | 408 | | stays |
| time without reading; to read all of it | an answer | ${s(STALLED_MS)}; ${s(ANSWER_MS)} | closed | | stays |
| requests sent ahead | a connection | ${mib(MAX_WAITING)} | closed | | stays |
| unread answers, and requests waiting behind them | an http process | ${defaults.HTTP_HELD_MIB} MiB | those waiting longest are closed | \`HTTP_HELD_MIB\` | stays |
| token | a request, a connect | ${n(MAX_TOKEN_LENGTH)} characters | 401 | | stays |
| text; address | a message | ${n(MAX_TEXT)}; ${n(MAX_ADDRESS)} characters | 400 | | stays |
| title; text; images | an article | ${MAX_TITLE}; ${n(MAX_CONTEXT)} characters; ${MAX_IMAGES} | 400 | | stays |
| text | a comment | ${n(MAX_COMMENT)} characters | 400 | | stays |
| name; picture | a member | ${MAX_NAME}; ${n(MAX_PICTURE)} characters | shortened, with \`…\`; left out | | stays |
| numbers in \`idList\` | a request | ${n(MAX_IDS)} | 400 | | stays |
| articles | a page | ${MAX_SIZE} | 400 | | stays |
| text | a page of articles | ${n(MAX_PAGE_TEXT)} characters | the longest texts are shortened | | stays |
| bytes of JSON | a list; the adoption posts | ${mib(MAX_LIST_BYTES)}; ${mib(MAX_POSTS_BYTES)} | it ends there | | stays |
| messages of a room | an answer | ${n(MAX_MESSAGES)} | \`before\` lists older ones | | stays |
| messages after a join; their text | an answer | ${MAX_CAUGHT_UP}; ${kib(MAX_CAUGHT_UP_BYTES)} | \`more\` | | stays |
| notifications; adoption posts | an answer | ${n(MAX_NOTIFICATIONS)}; ${n(MAX_POSTS)} | the newest | | stays |
| time | a read of the database | ${s(QUERY_MS)} | 503 | | stays |
| bytes; time | a fetch of the key set | ${mib(MAX_SET)}; ${s(FETCH_MS)} | the last good keys stay | | stays |
| a message | Redis | ${mib(MAX_MESSAGE)} | dropped and counted | | stays |
| requests and events under way at once | a process | ${QUEUE}, and the places of searches; more if they are done within ${defaults.QUEUE_MS} ms | 503 | \`QUEUE_MS\` | lifted, unless \`LOAD_SHEDDING\` is set |
| used heap | a process | ${HEAP_FULL * 100} % | 503 | \`LOAD_SHEDDING\` | lifted, unless set |`;
}
