/**
 * Faults that PLANTED_FAULT plants in this process, to show that the checker of `npm run prove` finds them
 * (docs/consistency.md). Loaded only where it is set, which production refuses.
 */
import type { Chat, createChatState } from './chat/index.js';
import type { EventBus } from './kernel/events.js';
import type { Live } from './kernel/live.js';
import type { Notifications } from './notifications/index.js';
import { plantInStorage } from './platform/mongo/planted-faults.js';
import type { Config } from './platform/settings/config.js';

/** What faults are planted in; its functions are replaced. */
export interface Planted {
  chat: Chat;
  events: EventBus;
  notifications: Notifications;
  presence: ReturnType<typeof createChatState>['presence'];
  live: Live;
}

/** One notification in so many is left out of streams. */
const SKIP_EVERY = 10;

/** Whoever entered a room through this process is present until it ends. */
function keepPresence({ presence, live }: Planted): void {
  Object.assign(presence, { leave: async () => {}, clear: async () => {} });
  // Otherwise connections that have left would be found and removed.
  Object.assign(live, { isInRoom: () => true });
}

/** The first room of each list has one unread message too many. */
function miscount({ chat }: Planted): void {
  const listRooms = chat.listRooms;
  chat.listRooms = async (...asked) => {
    const [first, ...others] = await listRooms(...asked);
    return first ? [{ ...first, unReadCount: first.unReadCount + 1 }, ...others] : [];
  };
}

/** Comments notify once more, as if for another comment. */
function notifyTwice({ events }: Planted): void {
  const publish = events.publish.bind(events);
  events.publish = async (name, event) => {
    await publish(name, event);
    if (name === 'comment.created' && 'commentId' in event)
      await publish(name, { ...event, commentId: -event.commentId });
  };
}

/** Streams get neither as it comes nor by reading it what has the tenth number. */
function skipStreamEvents({ notifications }: Planted): void {
  const { subscribe, replayAfter } = notifications;
  const isSkipped = ({ n }: { n: number }) => n % SKIP_EVERY === 0;
  notifications.subscribe = (memberNo, listener) =>
    subscribe(memberNo, (delivery) => {
      if (!isSkipped(delivery)) listener(delivery);
    });
  notifications.replayAfter = async function* (memberNo, after) {
    for await (const page of replayAfter(memberNo, after))
      yield page.filter((delivery) => !isSkipped(delivery));
  };
}

/** Plants a fault; those of pushes are planted by the gateway (gateway/planted-pushes.ts). */
export async function plantFault(fault: Config['PLANTED_FAULT'], planted: Planted): Promise<void> {
  switch (fault) {
    case 'keep-presence':
      return keepPresence(planted);
    case 'unread-off-by-one':
      return miscount(planted);
    case 'notify-twice':
      return notifyTwice(planted);
    case 'skip-stream-event':
      return skipStreamEvents(planted);
    case 'ack-before-store':
    case 'lose-on-kill':
    case 'seq-hole':
      return plantInStorage(fault);
    default:
      return undefined;
  }
}
