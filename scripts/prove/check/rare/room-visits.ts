import type { Delivery } from '../../history.js';
import type { Run } from '../facts/run.js';
import type { Asked, Watcher } from '../rule.js';

/** Tabs leave together if they do so within this time, ms. */
const TOGETHER_MS = 3_000;

/** A socket, and the rooms that it has joined. */
interface Tab {
  client: string;
  member: number;
  process: string;
  rooms: Set<number>;
}

/** Counts what members in a room are told of each other, read positions without a join, tabs that leave together, and rooms opened. */
export function roomVisits(run: Run): Watcher {
  const tabs = new Map<string, Tab>();
  /** Who left last, by room and member. */
  const exits = new Map<string, { tab: Tab; t: number }>();
  /** Read positions that members set without being in the room, by room and member. */
  const positions = new Map<string, number>();

  /** Rooms that were opened, by post and member. */
  const opened = new Set<string>();

  function open({ sale, member }: Asked<'openRoom'>): void {
    const key = `${sale} ${member}`;
    if (opened.has(key)) run.reach('repeatedRooms');
    opened.add(key);
  }

  function connect({ client, member, process, transport }: Asked<'connect'>): void {
    tabs.set(client, { client, member, process, rooms: new Set() });
    if (transport) run.reach(transport === 'polling' ? 'pollingSockets' : 'upgradedSockets');
  }

  function leave(tab: Tab, room: number, t: number): void {
    if (!tab.rooms.delete(room)) return;
    const key = `${room} ${tab.member}`;
    const last = exits.get(key);
    const isOther = last && last.tab.client !== tab.client && last.tab.process !== tab.process;
    if (isOther && last.t > t - TOGETHER_MS) run.reach('tabsLeft');
    exits.set(key, { tab, t });
  }

  function told(delivery: Delivery): void {
    if (delivery.event === 'typing') run.reach('typingTold');
    else if (delivery.event === 'presence' && delivery.who !== delivery.member)
      run.reach(delivery.present ? 'arrivalsTold' : 'departuresTold');
    else if (delivery.event === 'message:read') {
      const key = `${delivery.room} ${delivery.reader}`;
      if (delivery.reader === delivery.member || delivery.seq > (positions.get(key) ?? 0)) return;
      positions.delete(key);
      run.reach('movedReads');
    }
  }

  return {
    asked(asked) {
      if (asked.f === 'join' || asked.f === 'messages') positions.delete(`${asked.room} ${asked.member}`);
      if (asked.f === 'read' && !run.views.maybeIn(asked.room, asked.member, asked.t))
        positions.set(`${asked.room} ${asked.member}`, asked.seq);
      const tab = tabs.get(asked.client);
      if (tab && asked.f === 'leave' && asked.door === 'socket') leave(tab, asked.room, asked.t);
    },
    answered(_, asked) {
      if (asked.f === 'connect') connect(asked);
      else if (asked.f === 'openRoom') open(asked);
      else if (asked.f === 'join') tabs.get(asked.client)?.rooms.add(asked.room);
    },
    delivered: told,
    closed({ client, door, t }) {
      const tab = tabs.get(client);
      if (!tab || door !== 'socket') return;
      for (const room of [...tab.rooms]) leave(tab, room, t);
      tabs.delete(client);
    },
  };
}
