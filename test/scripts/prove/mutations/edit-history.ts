import type { Delivery, HistoryLine, Invoke, Ok, OperationName } from '../../../../scripts/prove/history.js';

/** A change that makes a history that of a faulty service. */
export interface Mutation {
  /** What the service would have done. */
  fault: string;
  /** The rule that must find it. */
  rule: string;
  /** Changes the history where it shows. @throws Error if there is no place for it */
  apply(lines: HistoryLine[]): void;
}

type Answered<F extends OperationName> = Extract<Ok, { f: F }>;
type Asked<F extends OperationName> = Extract<Invoke, { f: F }>;
type Event<E> = Extract<Delivery, { event: E }>;

const invokes = (lines: HistoryLine[]) =>
  new Map(lines.flatMap((line) => (line.e === 'invoke' ? [[line.op, line] as const] : [])));

/** The successes of one kind, with what was asked. */
export function calls<F extends OperationName>(
  lines: HistoryLine[],
  f: F,
): { ok: Answered<F>; asked: Asked<F> }[] {
  const asked = invokes(lines);
  return lines.flatMap((line) =>
    line.e === 'ok' && line.f === f
      ? [{ ok: line as Answered<F>, asked: asked.get(line.op) as Asked<F> }]
      : [],
  );
}

export function events<E extends Delivery['event']>(lines: HistoryLine[], event: E): Event<E>[] {
  return lines.filter((line): line is Event<E> => line.e === 'delivery' && line.event === event);
}

export const timeOf = (lines: HistoryLine[], phase: string): number =>
  lines.find((line) => line.e === 'phase' && line.phase === phase)?.t ?? 0;

export const drop = (lines: HistoryLine[], line: HistoryLine): void =>
  void lines.splice(lines.indexOf(line), 1);

/** Those that are answered before the quiet. */
export const inTraffic = <T extends { ok: { t: number } }>(lines: HistoryLine[], list: T[]): T[] =>
  list.filter(({ ok }) => ok.t < timeOf(lines, 'quiet'));

/** The last two pushes to one client in one room with nothing of the client in between. */
export function neighbours(lines: HistoryLine[]): [Event<'message'>, Event<'message'>] {
  const clients = new Map([...invokes(lines).values()].map(({ op, client }) => [op, client]));
  const last = new Map<string, Event<'message'>>();
  let found: [Event<'message'>, Event<'message'>] | undefined;
  for (const line of lines) {
    const client = 'op' in line ? clients.get(line.op) : line.e === 'closed' ? line.client : undefined;
    if (client !== undefined) forget(last, client);
    if (line.e !== 'delivery' || line.event !== 'message') continue;
    const key = `${line.client} ${line.room}`;
    const before = last.get(key);
    if (before) found = [before, line];
    last.set(key, line);
  }
  return the(found);
}

function forget(last: Map<string, unknown>, client: string): void {
  for (const key of last.keys()) if (key.startsWith(`${client} `)) last.delete(key);
}

/** The reads at the end that show a room from its first message. */
export const finalJoins = (lines: HistoryLine[]) =>
  calls(lines, 'join').filter(({ asked, ok }) => asked.t > timeOf(lines, 'final') && ok.messages.length > 3);

/** Takes a message out of everything that anybody was shown after a time. */
export function lose(lines: HistoryLine[], id: string, after: number): void {
  for (const line of [...lines]) {
    if (line.t <= after) continue;
    if (line.e === 'ok' && (line.f === 'join' || line.f === 'messages')) {
      const kept = line.messages.filter((message) => message.id !== id);
      if (line.f === 'join') line.seq -= line.messages.length - kept.length;
      line.messages = kept;
    }
    if (line.e === 'delivery' && line.event === 'message' && line.message.id === id) drop(lines, line);
  }
}

/** @throws Error if there is none */
export function the<T>(one: T | undefined): T {
  if (one === undefined) throw new Error('the history has no place for this');
  return one;
}

/** The members of a room. */
export const membersOf = (lines: HistoryLine[], room: number): readonly number[] => {
  const [header] = lines;
  const found = header?.e === 'header' ? header.rooms.find((one) => one.room === room) : undefined;
  return found ? [found.creator, found.joiner] : [];
};

/** Leaves out all events of a kind. */
export function dropAll(lines: HistoryLine[], isIt: (event: Delivery) => boolean): void {
  const kept = lines.filter((line) => line.e !== 'delivery' || !isIt(line));
  lines.splice(0, lines.length, ...kept);
}

/** The last lists of notifications, of members who have deleted none. */
export function notificationLists(lines: HistoryLine[]) {
  const deleting = new Set(calls(lines, 'delete').map(({ asked }) => asked.member));
  return calls(lines, 'notifications')
    .filter(({ asked, ok }) => !deleting.has(asked.member) && ok.notifications.length > 0)
    .reverse();
}
