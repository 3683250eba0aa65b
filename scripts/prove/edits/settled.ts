import type { HistoryLine } from '../history.js';

type Of<E extends HistoryLine['e']> = Extract<HistoryLine, { e: E }>;

/** A client in a room. */
interface Stay {
  /** Whether it is in the room and was shown all messages. */
  isIn: boolean;
  /** Joins and leaves under way. */
  open: number;
}

/** Which clients are in which rooms, by the lines so far. */
class Stays {
  readonly #stays = new Map<string, Stay>();
  readonly #asked = new Map<number, { stay: Stay; isJoin: boolean }>();

  #of(client: string, room: number | undefined): Stay {
    const key = `${client} ${room}`;
    const stay = this.#stays.get(key) ?? { isIn: false, open: 0 };
    this.#stays.set(key, stay);
    return stay;
  }

  ask(line: Of<'invoke'>): void {
    if ((line.f !== 'join' && line.f !== 'leave') || line.door !== 'socket') return;
    const stay = this.#of(line.client, line.room);
    stay.open += 1;
    this.#asked.set(line.op, { stay, isJoin: line.f === 'join' });
  }

  settle(line: Of<'ok' | 'fail' | 'info'>): void {
    const asked = this.#asked.get(line.op);
    if (!asked) return;
    asked.stay.open -= 1;
    asked.stay.isIn = line.e === 'ok' && line.f === 'join' && !line.more;
  }

  close({ client }: Of<'closed'>): void {
    for (const [key, stay] of this.#stays) if (key.startsWith(`${client} `)) stay.isIn = false;
  }

  isSettled(line: Of<'delivery'>): boolean {
    const room = 'room' in line ? line.room : line.event === 'room' ? line.state.room : undefined;
    const { isIn, open } = this.#of(line.client, room);
    return isIn && open === 0;
  }
}

/**
 * Indexes of the events of a room that came while their client was in it, and neither joined nor left it: while it does,
 * an answer may hold what an event does not.
 */
export function settledEvents(lines: readonly HistoryLine[]): Set<number> {
  const stays = new Stays();
  const settled = new Set<number>();
  for (const [i, line] of lines.entries()) {
    if (line.e === 'invoke') stays.ask(line);
    else if (line.e === 'ok' || line.e === 'fail' || line.e === 'info') stays.settle(line);
    else if (line.e === 'closed' && line.door === 'socket') stays.close(line);
    else if (line.e === 'delivery' && stays.isSettled(line)) settled.add(i);
  }
  return settled;
}
