import { timingSafeEqual } from 'node:crypto';
import { Counter, collectDefaultMetrics, Gauge, Histogram, register } from 'prom-client';
import { cachedFor } from './shared-runs.js';

collectDefaultMetrics();

/** The process's metrics. */
export const metrics = {
  httpRequests: new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from request to answer, streams left out',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5],
  }),
  streams: new Gauge({ name: 'event_streams_open', help: 'Open notification streams' }),
  streamsClosed: new Counter({
    name: 'event_streams_closed_total',
    help: 'Notification streams that ended',
    labelNames: ['reason'],
  }),
  connectionsClosed: new Counter({
    name: 'http_connections_closed_total',
    help: 'HTTP connections closed because of their client',
    labelNames: ['reason'],
  }),
  sockets: new Gauge({ name: 'sockets_open', help: 'Authenticated Socket.IO connections' }),
  socketRequests: new Counter({
    name: 'socket_requests_total',
    help: 'Client events by name and answer status',
    labelNames: ['event', 'status'],
  }),
  socketsClosed: new Counter({
    name: 'sockets_closed_total',
    help: 'Closed connections by reason',
    labelNames: ['reason'],
  }),
  connectionsRefused: new Counter({
    name: 'socket_connections_refused_total',
    help: 'Connections and requests that limits refused before a member was known',
    labelNames: ['reason'],
  }),
  broadcasts: new Counter({
    name: 'socket_broadcasts_total',
    help: 'Events sent to a room of sockets',
    labelNames: ['event'],
  }),
  gapsFilled: new Counter({
    name: 'chat_gaps_filled_total',
    help: 'Messages read from the database because their push did not arrive in turn',
  }),
  messagesStored: new Counter({ name: 'chat_messages_stored_total', help: 'Messages acknowledged' }),
  messagesRepeated: new Counter({
    name: 'chat_messages_repeated_total',
    help: 'Sends answered with a message stored before',
    labelNames: ['kind'],
  }),
  notificationsStored: new Counter({
    name: 'notifications_stored_total',
    help: 'Notifications written',
    labelNames: ['type'],
  }),
  redisUp: new Gauge({
    name: 'redis_up',
    help: '1 while Redis answers commands and echoes published messages; 0 also without Redis',
  }),
  redisPublishFailures: new Counter({
    name: 'redis_publish_failures_total',
    help: 'Messages to other processes that were dropped because Redis did not accept them',
  }),
  redisMessagesDropped: new Counter({
    name: 'redis_messages_dropped_total',
    help: 'Messages from Redis that had no effect: unsigned, malformed, too large, or of no kind that is used',
    labelNames: ['reason'],
  }),
  workTaken: new Gauge({
    name: 'work_taken_share',
    help: 'Share of new requests and events that is taken on; below 1 while the process is overloaded',
  }),
  workRefused: new Counter({
    name: 'work_refused_total',
    help: 'Requests, connects and events refused because the process was overloaded',
    labelNames: ['work'],
  }),
  unexpectedErrors: new Counter({
    name: 'unexpected_errors_total',
    help: 'Answers of status 500, unhandled rejections and uncaught exceptions',
  }),
};

/** The metrics in Prometheus' text format, at most a second old: nothing limits how often they are asked for. */
export const exposeMetrics = cachedFor(1_000, async () => ({
  contentType: register.contentType,
  text: await register.metrics(),
}));

/**
 * @param authorization the header as sent
 * @param token the configured METRICS_TOKEN, if any
 * @returns whether /metrics may be read
 */
export function mayReadMetrics(authorization: string | undefined, token: string | undefined): boolean {
  if (!token) return true;
  const given = Buffer.from(authorization ?? '');
  const wanted = Buffer.from(`Bearer ${token}`);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
