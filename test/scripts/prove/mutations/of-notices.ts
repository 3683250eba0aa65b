import type { Delivery } from '../../../../scripts/prove/history.js';
import { calls, drop, events, first, type Mutation, timeOf } from './edit-history.js';

/** Faults of what its name says, by the rule that finds them. */
export const noticeMutations: Mutation[] = [
  {
    fault: 'notifies twice',
    rule: 'notified-once',
    apply(lines) {
      const [event] = events(lines, 'notification').filter(({ door }) => door === 'socket');
      if (!event) return false;
      const again = structuredClone(event);
      again.notification.id = 1_000_000;
      lines.splice(lines.indexOf(event) + 1, 0, again);
      return true;
    },
  },
  {
    fault: 'notifies another member',
    rule: 'notified-once',
    apply: (lines) =>
      first(events(lines, 'notification'), (event) => {
        event.member = event.member === 1 ? 2 : 1;
      }),
  },
  {
    fault: 'notifies nobody of a comment',
    rule: 'notified-once',
    apply(lines) {
      const acked = new Set(calls(lines, 'comment').map(({ asked }) => asked.content));
      const id = events(lines, 'notification').find(
        ({ notification: { type, content } }) => type === 'comment' && acked.has(content),
      )?.notification.id;
      for (const event of events(lines, 'notification')) if (event.notification.id === id) drop(lines, event);
      for (const { ok } of calls(lines, 'notifications'))
        ok.notifications = ok.notifications.filter((one) => one.id !== id);
      return id !== undefined;
    },
  },
  {
    fault: 'skips an event of a stream',
    rule: 'stream-without-gap',
    apply(lines) {
      /** The events of each stream since it was opened. */
      const carried = new Map<string, Delivery[]>();
      for (const line of lines) {
        if (line.e === 'invoke' && line.f === 'stream') carried.delete(line.client);
        if (line.e !== 'delivery' || line.door !== 'stream') continue;
        const [, second, third] = [...(carried.get(line.client) ?? []), line];
        if (second && third) {
          drop(lines, second);
          return true;
        }
        carried.set(line.client, [...(carried.get(line.client) ?? []), line]);
      }
      return false;
    },
  },
  {
    fault: 'shows another text of a notification on the list',
    rule: 'same-notification-everywhere',
    apply: (lines) =>
      first(
        calls(lines, 'notifications').flatMap(({ ok }) => ok.notifications),
        (one) => {
          one.url = '/elsewhere';
        },
      ),
  },
  {
    fault: 'leaves a notification out of the list',
    rule: 'notification-list-is-fresh',
    apply: (lines) =>
      first(
        calls(lines, 'notifications')
          .reverse()
          .filter(({ ok }) => ok.notifications.length > 0),
        ({ ok }) => ok.notifications.shift(),
      ),
  },
  {
    fault: 'sends a notification to the stream alone',
    rule: 'socket-gets-notifications',
    apply(lines) {
      const end = timeOf(lines, 'quiet');
      return first(
        events(lines, 'notification')
          .reverse()
          .filter(
            ({ door, client, t }) =>
              door === 'socket' &&
              t < end &&
              !lines.some((line) => line.e === 'closed' && line.client === client && line.t > t - 2_000) &&
              !lines.some(
                (line) =>
                  line.e === 'invoke' && line.f === 'connect' && line.client === client && line.t > t - 2_000,
              ),
          ),
        (event) => drop(lines, event),
      );
    },
  },
  {
    fault: 'loses a comment',
    rule: 'comments-are-kept',
    apply: (lines) =>
      first(
        calls(lines, 'comments')
          .reverse()
          .filter(({ ok }) => ok.comments.length > 0),
        ({ ok }) => {
          const acked = new Set(calls(lines, 'comment').map(({ asked }) => asked.content));
          ok.comments.splice(
            ok.comments.findIndex(({ content }) => acked.has(content)),
            1,
          );
        },
      ),
  },
  {
    fault: 'counts a comment too many',
    rule: 'counters-are-records',
    apply: (lines) =>
      first(calls(lines, 'article').reverse(), ({ ok }) => {
        ok.comments += 1;
      }),
  },
  {
    fault: 'counts a heart too many',
    rule: 'hearts-are-counted',
    apply: (lines) =>
      first(calls(lines, 'article').reverse(), ({ ok }) => {
        ok.likes += 1;
      }),
  },
];
