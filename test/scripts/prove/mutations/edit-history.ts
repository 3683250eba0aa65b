import type { Delivery, HistoryLine, Invoke, Ok, OperationName } from '../../../../scripts/prove/history.js';

/** A change that makes a history that of a faulty service. */
export interface Mutation {
  /** What the service would have done. */
  fault: string;
  /** The rule that must find it. */
  rule: string;
  /** Changes the history. @returns whether it has the place for it */
  apply(lines: HistoryLine[]): boolean;
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

/** Two pushes to one client in one room with nothing of the client in between. */
export function neighbours(lines: HistoryLine[]): [Event<'message'>, Event<'message'>] | undefined {
  const last = new Map<string, Event<'message'>>();
  for (const line of lines) {
    if (line.e === 'invoke' || line.e === 'closed') forget(last, line.client);
    if (line.e !== 'delivery' || line.event !== 'message') continue;
    const key = `${line.client} ${line.room}`;
    const before = last.get(key);
    if (before) return [before, line];
    last.set(key, line);
  }
  return undefined;
}

function forget(last: Map<string, unknown>, client: string): void {
  for (const key of last.keys()) if (key.startsWith(`${client} `)) last.delete(key);
}

/** The reads at the end that show a room: joins from its first message, and pages. */
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

export const first = <T>(list: readonly T[], change: (one: T) => void): boolean => {
  const [one] = list;
  if (one !== undefined) change(one);
  return one !== undefined;
};

/** The members of a room. */
export const membersOf = (lines: HistoryLine[], room: number): readonly number[] => {
  const [header] = lines;
  const found = header?.e === 'header' ? header.rooms.find((one) => one.room === room) : undefined;
  return found?.members ?? [];
};
