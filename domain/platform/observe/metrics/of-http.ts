import { Counter, Gauge, Histogram } from 'prom-client';
import { DURATIONS } from './durations.js';
import { SampledGauge } from './sampled-gauge.js';

/** REST and event streams. */
export const httpMetrics = {
  httpRequests: new Histogram({
    name: 'adoption_http_request_duration_seconds',
    help: 'Time from a request to its answer, event streams left out; 5xx is never normal, 503 means that a backend is down; what an overloaded process refuses is not among them',
    labelNames: ['method', 'route', 'status'],
    buckets: DURATIONS,
  }),
  connections: new SampledGauge({
    name: 'adoption_http_connections_open',
    help: 'Open HTTP connections, idle ones and event streams included',
  }),
  connectionsClosed: new Counter({
    name: 'adoption_http_connections_closed_total',
    help: 'Connections closed because of their client: it read nothing of an answer or stream for 30 s (`stalled`: phones without coverage, or clients that do not read), did not read an answer to its end within 300 s (`slow`), held its bytes longest when all together held more than HTTP_HELD_MIB (`memory`), sent more than 2 MiB of requests ahead (`pipelined`), was one more than HTTP_CONNECTIONS of its address (`address`)',
    labelNames: ['reason'],
  }),
  streams: new Gauge({
    name: 'adoption_event_streams_open',
    help: 'Open notification streams',
  }),
  streamsClosed: new Counter({
    name: 'adoption_event_streams_closed_total',
    help: 'Streams that ended: `client` (it disconnected), `expired` and `drain` are normal, `error` is logged, `slow` is a reader 1 MiB behind, `too-many` an eleventh stream of a member, told to try again later, `restore`: the database had become an older copy',
    labelNames: ['reason'],
  }),
  streamNotifications: new Counter({
    name: 'adoption_event_stream_notifications_total',
    help: 'Notifications written to streams: as they came (`push`), missed while the client was away (`replay`), read because a push did not arrive in turn (`gap`); a steady rate of `gap` means that Redis loses messages',
    labelNames: ['source'],
  }),
  streamDelivery: new Histogram({
    name: 'adoption_event_stream_delivery_duration_seconds',
    help: 'Time from storing a notification to writing it to an open stream, whichever process stored it; replays left out',
    buckets: DURATIONS,
  }),
};
