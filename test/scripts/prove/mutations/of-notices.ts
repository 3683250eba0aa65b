import type { Delivery, HistoryLine } from '../../../../scripts/prove/history.js';
import { calls, drop, events, inTraffic, type Mutation, notificationLists, the } from './edit-history.js';

const bySocket = (lines: HistoryLine[]) =>
  events(lines, 'notification').filter(({ door }) => door === 'socket');

/** The last second one of three events in a row that one opening of a stream carries, to a member who has deleted none. */
function secondOfThree(lines: HistoryLine[]): Delivery {
  const deleting = new Set(calls(lines, 'delete').map(({ asked }) => asked.member));
  /** The events of each stream since it was opened. */
  const carried = new Map<string, Delivery[]>();
  let found: Delivery | undefined;
  for (const line of lines) {
    if (line.e === 'invoke' && line.f === 'stream') carried.delete(line.client);
    if (line.e !== 'delivery' || line.door !== 'stream' || deleting.has(line.member)) continue;
    const last = [...(carried.get(line.client) ?? []), line].slice(-3);
    if (last.length === 3) found = last[1];
    carried.set(line.client, last);
  }
  return the(found);
}

/** Faults of what its name says, by the rule that finds them. */
export const noticeMutations: Mutation[] = [
  {
    fault: 'notifies twice',
    rule: 'notified-once',
    apply(lines) {
      const event = the(bySocket(lines)[0]);
      const again = structuredClone(event);
      again.notification.id = 1_000_000;
      lines.splice(lines.indexOf(event) + 1, 0, again);
    },
  },
  {
    fault: 'notifies another member',
    rule: 'notified-once',
    apply(lines) {
      const event = the(
        events(lines, 'notification').find(({ notification }) => notification.type === 'chat'),
      );
      event.member = event.member === 1 ? 2 : 1;
    },
  },
  {
    fault: 'notifies nobody of a comment',
    rule: 'notified-once',
    apply(lines) {
      const acked = new Set(calls(lines, 'comment').map(({ asked }) => asked.content));
      const all = events(lines, 'notification');
      const { id } = the(
        all.findLast(({ notification: { type, content } }) => type === 'comment' && acked.has(content)),
      ).notification;
      for (const event of all) if (event.notification.id === id) drop(lines, event);
      for (const { ok } of calls(lines, 'notifications'))
        ok.notifications = ok.notifications.filter((one) => one.id !== id);
    },
  },
  {
    fault: 'skips an event of a stream',
    rule: 'stream-without-gap',
    apply: (lines) => drop(lines, secondOfThree(lines)),
  },
  {
    fault: 'shows another text of a notification on the list',
    rule: 'same-notification-everywhere',
    apply(lines) {
      the(notificationLists(lines)[0]?.ok.notifications[0]).url = '/elsewhere';
    },
  },
  {
    fault: 'shows a notification as checked that nobody has checked',
    rule: 'same-notification-everywhere',
    apply(lines) {
      const checking = new Set(calls(lines, 'check').map(({ asked }) => asked.member));
      const list = notificationLists(lines).find(({ asked }) => !checking.has(asked.member));
      the(list?.ok.notifications[0]).checked = true;
    },
  },
  {
    fault: 'forgets that a notification was checked',
    rule: 'same-notification-everywhere',
    apply(lines) {
      const [list] = notificationLists(lines);
      the(list?.ok.notifications.find(({ checked }) => checked)).checked = false;
    },
  },
  {
    fault: 'leaves a notification out of the list',
    rule: 'notification-list-is-fresh',
    apply: (lines) => void the(notificationLists(lines)[0]).ok.notifications.shift(),
  },
  {
    fault: 'leaves a notification out of a list while others come',
    rule: 'notification-list-is-fresh',
    apply: (lines) => void the(inTraffic(lines, notificationLists(lines))[0]).ok.notifications.shift(),
  },
  {
    fault: 'sends a notification to the stream alone',
    rule: 'socket-gets-notifications',
    apply: (lines) => drop(lines, the(bySocket(lines).at(-1))),
  },
  {
    fault: 'sends a socket the same notification twice',
    rule: 'socket-gets-notifications',
    apply(lines) {
      const event = the(bySocket(lines).at(-1));
      lines.splice(lines.indexOf(event), 0, { ...event });
    },
  },
];
