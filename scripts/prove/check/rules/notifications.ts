import type { SeenNotification } from '../../history.js';
import type { SentComment } from '../facts/comments.js';
import { nameOf, otherOf, type SentMessage } from '../facts/messages.js';
import {
  describe,
  type Inbox,
  isNumber,
  mayBeDeleted,
  mayBeDeletedUnseen,
  type NotificationRecord,
} from '../facts/notifications.js';
import type { Run } from '../facts/run.js';
import { AFTER_FAULTS_MS, wasConnected } from '../facts/views.js';
import { at, type Report, type Rule } from '../rule.js';

/** Time in which a notification is stored and has arrived, without faults (the poll comes every 5 s), ms. */
const ARRIVES_WITHIN_MS = 12_000;

const isDue = (run: Run, t: number): boolean =>
  run.disturbances.isSettled(t, run.now, ARRIVES_WITHIN_MS, AFTER_FAULTS_MS);

/**
 * When it was certainly stored, or soon after. In the middle of a run that is only known once it is shown: a message that is
 * acknowledged when it is sent again may have been stored by a process that died, and its notification waits for a sweep.
 */
export function arrivesFrom(run: Run, { cause, seenAt }: NotificationRecord): number {
  const ackedAt = cause?.kind === 'chat' ? cause.message.ackedAt : cause?.comment.ackedAt;
  return run.hasEnded ? Math.min(seenAt, ackedAt ?? seenAt) : seenAt;
}

/** @returns what is wrong with the notification of a message */
function faultOfChat({ member, type, url }: NotificationRecord, message: SentMessage): string | undefined {
  const { room, sender, refused } = message;
  const recipient = otherOf(room, sender);
  if (type !== 'chat') return 'it is of a message';
  if (recipient !== member) return `the message of room ${room.no} is for member ${recipient}`;
  if (!url.startsWith(`/chat/${room.no}?`)) return `the message is of room ${room.no}, the url is ${url}`;
  return refused ? `the message of member ${sender} was refused` : undefined;
}

/** @returns what is wrong with the notification of a comment or reply */
function faultOfComment({ member, type, url }: NotificationRecord, comment: SentComment): string | undefined {
  const { article, author, parent, recipient, refused } = comment;
  if (type !== (parent === undefined ? 'comment' : 'recomment'))
    return `it is of a ${parent === undefined ? 'comment' : 'reply'}`;
  if (author === member) return 'it is their own';
  if (parent === undefined && recipient !== member) return `it is for member ${recipient}`;
  if (url !== `/board/${article}`) return `the comment is of article ${article}, the url is ${url}`;
  return refused ? `the comment of member ${author} was refused` : undefined;
}

/** @returns what is wrong with it, as far as its cause tells */
function faultOf(record: NotificationRecord, { world }: Run): string | undefined {
  const { type, name, cause } = record;
  if (!cause) return type.startsWith('document') && name !== 'admin' ? `it is from ${name}` : undefined;
  const from = world.member(cause.kind === 'chat' ? cause.message.sender : cause.comment.author);
  if (name !== from?.nickname) return `${from?.nickname} caused it, and it is from ${name}`;
  return cause.kind === 'chat' ? faultOfChat(record, cause.message) : faultOfComment(record, cause.comment);
}

export const notifiedOnce: Rule = {
  name: 'notified-once',
  says: 'Each comment, reply, and message to an absent recipient notifies whom it is for, exactly once',
  source: 'docs/contract.md, sections 3, 4 and 6; docs/decisions/notifications.md',
  watch(run, report) {
    /** Notifications of what the history does not hold, such as an article's lead: by member, type and url. */
    const others = new Map<string, number>();

    function check(member: number, seen: SeenNotification): void {
      const inbox = run.notifications.of(member);
      const record = inbox.records.get(seen.id);
      if (!record || record.seenAt !== run.now) return;
      const shown = `member ${member} is notified: ${describe(seen)}`;
      // Others may have caused it.
      if (run.notifications.causeOf(seen) === null && !run.isShared) report(`${shown}: nobody has caused it`);
      const fault = faultOf(record, run);
      if (fault) report(`${shown}: ${fault}`);
      const first = firstOf(record);
      if (first !== undefined && first !== seen.id)
        report(`${shown}: the notification ${first} was for the same`);
      else if (record.cause?.kind === 'chat' && record.cause.message.absent) run.reach('absentRecipients');
    }

    /** The first notification of the same cause. */
    function firstOf({ id, member, type, url, content, cause }: NotificationRecord): number | undefined {
      if (cause?.kind === 'chat') {
        cause.message.notification ??= id;
        return cause.message.notification;
      }
      if (cause?.kind === 'comment') {
        cause.comment.notification ??= id;
        return cause.comment.notification;
      }
      if (!type.startsWith('document')) return undefined;
      const key = `${member} ${type} ${url} ${content}`;
      const first = others.get(key) ?? id;
      others.set(key, first);
      return first;
    }

    function checkMessage(message: SentMessage, ackedAt: number): void {
      const { notification, askedAt, room, sender, present } = message;
      if (present && notification !== undefined && wasConnected(present, ackedAt)) {
        report(
          `room ${room.no}: ${nameOf(message)} notified a recipient who was in the room (id ${notification})`,
          ackedAt,
        );
      }
      if (!message.absent) return;
      const recipient = otherOf(room, sender);
      // Its notification does not tell which image it is of.
      if (message.type !== undefined) return;
      if (notification !== undefined || !run.streams.covers(recipient, askedAt) || !isDue(run, ackedAt))
        return;
      if (mayBeDeletedUnseen(run.notifications.of(recipient), message)) return;
      report(`room ${room.no}: ${nameOf(message)} to absent member ${recipient} notified nobody`, ackedAt);
    }

    function checkComments(): void {
      for (const comment of run.comments.all()) {
        const { content, recipient, askedAt, ackedAt, notification, article, removedEarly } = comment;
        if (recipient === undefined || ackedAt === undefined || notification !== undefined || removedEarly)
          continue;
        if (!run.streams.covers(recipient, askedAt) || !isDue(run, ackedAt)) continue;
        report(`comment "${content}" on article ${article} did not notify member ${recipient}`, ackedAt);
      }
    }

    return {
      answered(ok, asked) {
        if (ok.f !== 'notifications') return;
        for (const seen of ok.notifications) check(asked.member, seen);
      },
      delivered(delivery) {
        if (delivery.event === 'notification') check(delivery.member, delivery.notification);
      },
      end() {
        for (const message of run.messages.all()) {
          if (message.ackedAt !== undefined) checkMessage(message, message.ackedAt);
        }
        checkComments();
      },
    };
  },
};

/** Most notifications that are deleted while a stream is away; more numbers left out are a violation at once. */
const MAX_HOLE = 10_000;

/** Numbers that a stream leaves out, the last one included; deleted notifications leave some. */
interface Hole {
  client: string;
  member: number;
  from: number;
  to: number;
  t: number;
}

/** What a stream leaves out was deleted before the next one came. */
function checkHoles(inbox: Inbox, holes: Hole[], report: Report): void {
  const unknown = new Map<number, Hole>();
  for (const hole of holes) {
    for (let n = hole.from; n <= hole.to; n += 1) {
      const record = inbox.records.get(inbox.ids[n] ?? Number.NaN);
      if (!record) unknown.set(n, unknown.get(n) ?? hole);
      else if (!mayBeDeleted(inbox, record, hole.t)) report(textOf(hole, n, record), hole.t);
    }
  }
  checkUnknown(inbox, unknown, report);
}

const textOf = ({ client, member }: Hole, n: number, record?: NotificationRecord): string =>
  `the stream ${client} of member ${member} leaves out n ${n}${record ? `, ${describe(record)}` : ''}`;

/** Of notifications that are deleted before a stream carries them, nobody is told the number: so many may be left out. */
function checkUnknown(inbox: Inbox, holes: Map<number, Hole>, report: Report): void {
  const unnumbered = [...inbox.records.values()].filter(({ n }) => n === undefined);
  for (const [i, [n, hole]] of [...holes].entries()) {
    if (inbox.deletesUnseenFrom <= hole.t) return;
    const deleted = unnumbered.filter((record) => mayBeDeleted(inbox, record, hole.t));
    if (deleted.length <= i) report(textOf(hole, n), hole.t);
  }
}

export const streamNumbers: Rule = {
  name: 'stream-without-gap',
  says: 'A member’s streams carry n = 1, 2, 3 … in order, each once, also over reconnects; only deleted ones are left out',
  source: 'docs/contract.md, section 6; docs/decisions/notifications.md',
  watch(run, report) {
    const holes = new Map<number, Hole[]>();
    return {
      answered(ok, asked) {
        if (ok.f !== 'stream' || asked.f !== 'stream' || asked.after === undefined) return;
        if (ok.last !== asked.after)
          report(`the stream ${asked.client} that goes on after n ${asked.after} begins with ${ok.last}`);
      },
      delivered(delivery) {
        if (delivery.door !== 'stream') return;
        const { client, member, n, t, notification } = delivery;
        const shown = `the stream ${client} of member ${member} carries n ${n}, ${describe(notification)},`;
        if (!isNumber(n)) {
          report(`${shown} which is no number of a notification`);
          return;
        }
        const last = run.streams.lastOf(client) ?? n - 1;
        if (n <= last || n - last > MAX_HOLE) report(`${shown} after ${last}`);
        else if (n > last + 1)
          holes.set(member, [...(holes.get(member) ?? []), { client, member, from: last + 1, to: n - 1, t }]);
        run.streams.advance(client, n);
        const { ids, records } = run.notifications.of(member);
        if (ids[n] !== notification.id) report(`${shown} and n ${n} was id ${ids[n]}`);
        const before = records.get(notification.id)?.n;
        if (before !== n) report(`${shown} and its n was ${before}`);
      },
      end() {
        for (const [member, ofMember] of holes) checkHoles(run.notifications.of(member), ofMember, report);
        checkComplete(run, report);
      },
    };
  },
};

/** Open streams and sockets have what the member was shown elsewhere. */
function checkComplete(run: Run, report: Report): void {
  for (const inbox of run.notifications.inboxes.values()) {
    for (const record of inbox.records.values()) {
      const { cause, seenAt, n, member } = record;
      if (!cause || n !== undefined || mayBeDeleted(inbox, record) || !isDue(run, arrivesFrom(run, record)))
        continue;
      if (!run.streams.covers(member, cause.askedAt)) continue;
      report(`no stream of member ${member} carries ${describe(record)}, shown at ${at(seenAt)}`, seenAt);
    }
  }
}
