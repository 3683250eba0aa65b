import { Counter, Gauge, Histogram } from 'prom-client';
import { DURATIONS } from './durations.js';

/** Sockets. */
export const socketMetrics = {
  sockets: new Gauge({
    name: 'adoption_sockets_open',
    help: 'Authenticated connections by transport (`websocket`, `polling`); a drop without a deploy means a crash or a network fault',
    labelNames: ['transport'],
  }),
  socketsOpened: new Counter({
    name: 'adoption_sockets_opened_total',
    help: 'Connections that were authenticated, by their transport at that moment',
    labelNames: ['transport'],
  }),
  socketsClosed: new Counter({
    name: 'adoption_sockets_closed_total',
    help: 'Connections that ended, each counted once: `client` (it said so), `transport` (page closed, network lost), `drain`, `expired` (its token) and `namespace` (taken out by the service) are normal; `timeout` answered no ping, `error` sent what is no Socket.IO, `slow` is a reader 1 MiB behind, `too-many` the oldest of more than 50 of a member, `frames` sent too much, `another-member` refreshed with the token of another, `restore`: the database had become an older copy',
    labelNames: ['transport', 'reason'],
  }),
  members: new Gauge({
    name: 'adoption_socket_members',
    help: 'Members with a connection to the process; one connected to several processes counts in each',
  }),
  socketRequests: new Histogram({
    name: 'adoption_socket_request_duration_seconds',
    help: 'Time from a client event to its acknowledgement, by event (`unknown` for all others) and status; 429 are limits, 503 a database that is down, or overload',
    labelNames: ['event', 'status'],
    buckets: DURATIONS,
  }),
  broadcasts: new Counter({
    name: 'adoption_socket_broadcasts_total',
    help: 'Events sent to a room of sockets, counted where they come from',
    labelNames: ['event'],
  }),
};
