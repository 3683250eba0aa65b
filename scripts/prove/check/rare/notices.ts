import type { Delivery } from '../../history.js';
import type { Run } from '../facts/run.js';
import type { Watcher } from '../rule.js';

/** A stream that was asked for after a notification, until its first delivery. */
interface Opening {
  askedAt: number;
  after: number;
}

/** Counts streams that go on after what they carried, and deletions that show. */
export function noticePaths(run: Run): Watcher {
  const opening = new Map<string, Opening>();
  /** When deletions were acknowledged that no list has shown yet, by member and notification. */
  const deleted = new Map<number, Map<number, number>>();

  function goOn(delivery: Extract<Delivery, { door: 'stream' }>, { askedAt, after }: Opening): void {
    const { member, n, notification } = delivery;
    const cause = run.notifications.of(member).records.get(notification.id)?.cause;
    const storedAt = cause?.kind === 'chat' ? cause.message.ackedAt : cause?.comment.ackedAt;
    if (storedAt !== undefined && storedAt < askedAt) run.reach('replayedStreams');
    if (n !== null && n > after + 1) run.reach('shortenedStreams');
  }

  function list(member: number, askedAt: number, ids: Set<number>): void {
    const waiting = deleted.get(member);
    for (const [id, t] of waiting ?? []) {
      if (t > askedAt || ids.has(id)) continue;
      waiting?.delete(id);
      run.reach('deletedNotificationsGone');
    }
  }

  return {
    asked(asked) {
      if (asked.f === 'stream' && asked.after !== undefined)
        opening.set(asked.client, { askedAt: asked.t, after: asked.after });
    },
    answered(ok, asked) {
      if (asked.f === 'delete') {
        const waiting = deleted.get(asked.member) ?? new Map<number, number>();
        for (const id of asked.notifications) waiting.set(id, ok.t);
        deleted.set(asked.member, waiting);
      }
      if (ok.f === 'notifications')
        list(asked.member, asked.t, new Set(ok.notifications.map(({ id }) => id)));
    },
    delivered(delivery) {
      if (delivery.door !== 'stream') return;
      const one = opening.get(delivery.client);
      opening.delete(delivery.client);
      if (one) goOn(delivery, one);
    },
  };
}
