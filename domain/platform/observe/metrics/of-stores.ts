import { Counter, Histogram } from 'prom-client';
import { DURATIONS } from './durations.js';
import { SampledGauge } from './sampled-gauge.js';

/** The database and Redis. */
export const storeMetrics = {
  databaseOperations: new Histogram({
    name: 'adoption_database_operation_duration_seconds',
    help: 'Time from sending a command to the database to its answer, by command (`find`, `insert`, `update` …) and outcome (`ok`, `failed`; a record refused by a unique index is `ok`)',
    labelNames: ['command', 'outcome'],
    buckets: DURATIONS,
  }),
  databaseUp: new SampledGauge({
    name: 'adoption_database_up',
    help: '1 while a database server takes writes, as the driver sees it; it asks every second',
    aggregator: 'min',
  }),
  redisUp: new SampledGauge({
    name: 'adoption_redis_up',
    help: '1 while Redis accepts commands and echoes what is published; absent without Redis',
    aggregator: 'min',
  }),
  redisStoring: new SampledGauge({
    name: 'adoption_redis_storing',
    help: '1 while Redis stores, 0 while it answers but refuses to store for lack of memory, disk or replicas: then each process counts limits alone; absent without Redis',
    aggregator: 'min',
  }),
  redisCommands: new Histogram({
    name: 'adoption_redis_command_duration_seconds',
    help: 'Time from a Redis command to its answer, waiting for the connection included, by command (`publish`, `evalsha` …) and outcome (`ok`, `failed`)',
    labelNames: ['command', 'outcome'],
    buckets: DURATIONS,
  }),
  redisEcho: new Histogram({
    name: 'adoption_redis_echo_duration_seconds',
    help: 'Time until a message that the process publishes comes back to it, every 2 s: how late pushes of other processes are',
    buckets: DURATIONS,
  }),
  redisEchoesMissed: new Counter({
    name: 'adoption_redis_echoes_missed_total',
    help: 'Such messages that did not come back within 1 s',
  }),
  redisPublishFailures: new Counter({
    name: 'adoption_redis_publish_failures_total',
    help: 'Messages to other processes that were dropped because Redis did not accept them; clients catch up from the database',
  }),
  redisMessagesDropped: new Counter({
    name: 'adoption_redis_messages_dropped_total',
    help: 'Messages from Redis without effect: `unsigned` (without our key), `unknown` (of a kind that no process publishes), `malformed`, or larger than 1 MiB (`too-large`). During a reload that changes the version or the key it rises briefly; otherwise somebody else publishes',
    labelNames: ['reason'],
  }),
};
