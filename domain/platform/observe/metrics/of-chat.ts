import { Counter, Gauge, Histogram } from 'prom-client';
import { DURATIONS, SHORT_DURATIONS } from './durations.js';

/** Chat messages and notifications. */
export const chatMetrics = {
  messages: new Counter({
    name: 'adoption_chat_messages_total',
    help: 'Sends by socket and REST that passed the limits of rate: `stored` (the basic activity), `repeated` (a retry, answered with the first one; a rise means that acknowledgements get lost), `posted-back` (a broadcast that its receiver sent back), `refused` (the sender’s fault: not in the room, quota), `failed` (not stored, or unknown whether)',
    labelNames: ['outcome'],
  }),
  conflicts: new Counter({
    name: 'adoption_chat_conflicts_total',
    help: 'Attempts to store messages that found their number taken by another process, and were repeated with a later one: members of a room send through several processes at the same moment',
  }),
  fanout: new Histogram({
    name: 'adoption_chat_fanout_duration_seconds',
    help: 'Time from a message’s `sendTime`, just before it is stored, to writing it to the sockets of its room, once per message and process that has some; whichever process stored it, by the clocks of both; those that a lost push delayed included',
    buckets: DURATIONS,
  }),
  messageStages: new Histogram({
    name: 'adoption_chat_message_stage_duration_seconds',
    help: 'With `MESSAGE_STAGES=on`, where the time of a message goes that a socket of the process sends, by stage, one after another: `receive` (limits, checks, permission), `queue` (until it is being stored), `insert` (until it is stored), `publish` (until it is published, over Redis with several processes), `sequence` (until its turn in the room comes), `write` (until it is written to the room’s sockets of the process)',
    labelNames: ['stage'],
    buckets: SHORT_DURATIONS,
  }),
  catchUps: new Histogram({
    name: 'adoption_chat_catch_up_duration_seconds',
    help: 'Time from a join to its answer, which holds what the client missed: without a number to begin at (`open`), after one (`resume`), the next page while in the room (`read-on`)',
    labelNames: ['kind'],
    buckets: DURATIONS,
  }),
  caughtUp: new Counter({
    name: 'adoption_chat_messages_caught_up_total',
    help: 'Messages in the answers to joins, by the same kinds',
    labelNames: ['kind'],
  }),
  rooms: new Gauge({
    name: 'adoption_chat_rooms_followed',
    help: 'Rooms that sockets of the process are in; one with sockets at several processes counts in each',
  }),
  gapsFilled: new Counter({
    name: 'adoption_chat_gaps_filled_total',
    help: 'Messages read from the database because their push did not arrive in turn: a steady rate means that Redis loses messages',
  }),
  pushesWithoutRecord: new Counter({
    name: 'adoption_chat_pushes_without_record_total',
    help: 'Pushed messages and read positions that the database does not have after five reads: never normal; forged, or lost after they were acknowledged',
  }),
  lostPushes: new Counter({
    name: 'adoption_lost_pushes_total',
    help: 'Pushes that did not come, by what clients were given from the database or Redis instead: `message`, `read` (a read position), `presence` and `room` (the state of a room), `notification` (announcements left out); each 10 s after that at the earliest, as the push may have been slow, and not where this process was subscribing when it was pushed. 0 while nothing fails, apart from a few of `presence`, and without `REDIS_SIGNING_KEY`, where what a push says is read from the database in any case; a steady rate means that Redis loses messages',
    labelNames: ['what'],
  }),
  presenceExpired: new Counter({
    name: 'adoption_presence_expired_total',
    help: 'Members whose presence in a room ended because no process renewed it any more: after a crash, or after a stall of 14 s and more',
  }),
  notificationsStored: new Counter({
    name: 'adoption_notifications_stored_total',
    help: 'Notifications written, by type',
    labelNames: ['type'],
  }),
  notificationsPolled: new Counter({
    name: 'adoption_notifications_polled_total',
    help: 'Notifications for open streams and sockets of the process that the poll found before their push, such as those of an announcement: a steady rate means that Redis loses messages',
  }),
};
