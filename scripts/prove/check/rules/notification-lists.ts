import type { SeenNotification } from '../../history.js';
import {
  describe,
  type Inbox,
  mayBeChecked,
  mayBeDeleted,
  type NotificationRecord,
} from '../facts/notifications.js';
import { AFTER_FAULTS_MS, aliveUntil } from '../facts/views.js';
import { type Asked, at, type Report, type Rule } from '../rule.js';
import { arrivesFrom } from './notifications.js';

/** Most notifications in one list, and most that it is made of (domain/notifications/list-notifications.ts). */
const MAX_LISTED = 1_000;
const MAX_READ = 10_000;

/** Time in which a socket is sent a notification without faults, ms: the poll comes every 5 s. */
const ARRIVES_WITHIN_MS = 12_000;

export const sameNotification: Rule = {
  name: 'same-notification-everywhere',
  says: 'A notification is the same record on streams, sockets and the list: unchecked until its member checks it, then checked',
  source: 'docs/contract.md, section 6, promise 3',
  watch(run, report) {
    function compare(member: number, seen: SeenNotification, by: string): void {
      const inbox = run.notifications.of(member);
      const record = inbox.records.get(seen.id);
      if (!record) return;
      if (seen.checked && !mayBeChecked(inbox, record))
        report(`the ${by} of member ${member} shows ${describe(seen)} as checked; nobody has checked it`);
      for (const field of ['type', 'content', 'url', 'name', 'at'] as const) {
        if (record[field] === seen[field]) continue;
        report(
          `notification ${seen.id} of member ${member}: ${field} is "${seen[field]}" on the ${by}, and was "${record[field]}"`,
        );
      }
    }
    return {
      delivered(delivery) {
        if (delivery.event === 'notification') compare(delivery.member, delivery.notification, delivery.door);
      },
      answered(ok, asked) {
        if (ok.f !== 'notifications') return;
        for (const seen of ok.notifications) {
          compare(asked.member, seen, 'list');
          const checkedAt = run.notifications.of(asked.member).records.get(seen.id)?.checkedAt;
          if (seen.checked || checkedAt === undefined || checkedAt >= asked.t) continue;
          report(
            `the list of member ${asked.member} shows ${describe(seen)} as unchecked; checking it was acknowledged at ${at(checkedAt)}`,
          );
        }
      },
    };
  },
};

/** What a list that was asked for then must hold, and does not. */
function missingFrom(inbox: Inbox, listed: SeenNotification[], askedAt: number): NotificationRecord[] {
  const ids = new Set(listed.map(({ id }) => id));
  const missing = [...inbox.kept.values()].filter(({ id, seenAt }) => seenAt < askedAt && !ids.has(id));
  const latest = new Map(listed.filter(({ type }) => type === 'chat').map(({ url, id }) => [url, id]));
  for (const [url, { first, newest }] of inbox.chats) {
    if (inbox.deletedRooms.has(url)) continue;
    const shown = latest.get(url);
    if (shown === undefined) {
      if (first.seenAt < askedAt) missing.push(newest ?? first);
      continue;
    }
    const n = inbox.records.get(shown)?.n;
    if (newest && newest.seenAt < askedAt && n !== undefined && n < newest.n) missing.push(newest);
  }
  return missing;
}

function checkList(
  inbox: Inbox,
  asked: Asked<'notifications'>,
  listed: SeenNotification[],
  report: Report,
): void {
  const list = `the list of member ${asked.member}, asked for at ${at(asked.t)},`;
  let last = Number.POSITIVE_INFINITY;
  const urls = new Set<string>();
  for (const seen of listed) {
    const record = inbox.records.get(seen.id);
    if (record?.n !== undefined) {
      if (record.n >= last) report(`${list} shows ${describe(record)} after n ${last}; newest first`);
      last = record.n;
    }
    if (record?.deletedAt !== undefined && record.deletedAt < asked.t)
      report(`${list} shows ${describe(record)}, whose deletion was acknowledged at ${at(record.deletedAt)}`);
    if (seen.type === 'chat' && urls.has(seen.url))
      report(`${list} shows two chat notifications of ${seen.url}`);
    if (seen.type === 'chat') urls.add(seen.url);
  }
}

export const notificationList: Rule = {
  name: 'notification-list-is-fresh',
  says: 'The list holds what streams and sockets were shown: newest first, of each chat the latest, none that was deleted',
  source: 'docs/contract.md, section 6',
  watch: (run, report) => ({
    answered(ok, asked) {
      if (ok.f !== 'notifications' || asked.f !== 'notifications') return;
      const inbox = run.notifications.of(asked.member);
      checkList(inbox, asked, ok.notifications, report);
      if (ok.notifications.length >= MAX_LISTED || inbox.records.size >= MAX_READ) return;
      if (run.phase === 'final') run.coverage.add('notificationListsCompared');
      for (const record of missingFrom(inbox, ok.notifications, asked.t)) {
        report(`the list of member ${asked.member} lacks ${describe(record)}, shown at ${at(record.seenAt)}`);
      }
    },
  }),
};

/** A socket and the notifications that it was sent. */
interface Socket {
  client: string;
  member: number;
  openAt: number;
  received: Set<number>;
  /** Notifications that its member had been shown before it was opened. */
  before: number;
}

export const socketNotifications: Rule = {
  name: 'socket-gets-notifications',
  says: 'An open socket is sent every notification of its member once: the list at its connect and its events are the fresh list',
  source: 'gateway/PROTOCOL.md, what the server sends; docs/decisions/notifications.md',
  watch(run, report) {
    const sockets = new Map<string, Socket>();
    /** @param isDue whether what was caused or shown then must have arrived */
    function check(
      { client, member, openAt, received, before }: Socket,
      isDue: (record: NotificationRecord) => boolean,
    ): void {
      const inbox = run.notifications.of(member);
      for (const record of inbox.inOrder.slice(before)) {
        const { cause, seenAt, id } = record;
        if (!cause || cause.askedAt < openAt || received.has(id) || mayBeDeleted(inbox, record)) continue;
        if (!isDue(record)) continue;
        report(
          `socket ${client} of member ${member}, open since ${at(openAt)}, was not sent ${describe(record)}`,
          seenAt,
        );
      }
    }
    return {
      answered(ok, { client, member }) {
        if (ok.f !== 'connect') return;
        const before = run.notifications.of(member).inOrder.length;
        sockets.set(client, { client, member, openAt: ok.t, received: new Set(), before });
      },
      delivered(delivery) {
        if (delivery.door !== 'socket' || delivery.event !== 'notification') return;
        const { client, member, notification } = delivery;
        const received = sockets.get(client)?.received;
        if (received?.has(notification.id)) {
          report(
            `socket ${client} of member ${member} is sent ${describe(notification)} again, over the same connection`,
          );
        }
        received?.add(notification.id);
      },
      closed(closed) {
        if (closed.door !== 'socket' || run.hasEnded) return;
        const socket = sockets.get(closed.client);
        sockets.delete(closed.client);
        const isDue = ({ seenAt }: NotificationRecord) =>
          run.disturbances.isCalmSince(seenAt) && aliveUntil(closed) > seenAt + ARRIVES_WITHIN_MS;
        if (socket) check(socket, isDue);
      },
      end() {
        const isDue = (record: NotificationRecord) =>
          run.disturbances.isSettled(arrivesFrom(run, record), run.now, ARRIVES_WITHIN_MS, AFTER_FAULTS_MS);
        for (const socket of sockets.values()) check(socket, isDue);
      },
    };
  },
};
