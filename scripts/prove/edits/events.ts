import type { HistoryLine } from '../history.js';
import {
  type Answer,
  type Below,
  COUNTS,
  type Edit,
  type Event,
  nameOf,
  pick,
  replaced,
  type Source,
  writtenIn,
} from './edit.js';

/** What an event is about, beside its receiver: the next one about it says more, or else. */
function subjectOf(event: Event): string {
  switch (event.event) {
    case 'message':
      return `${event.room}`;
    case 'message:read':
      return `${event.room} ${event.reader}`;
    case 'presence':
      return `${event.room} ${event.who}`;
    case 'room':
      return `${event.state.room}`;
    default:
      return '';
  }
}

const isAlike = (one: Event, line: HistoryLine): line is Event =>
  line.e === 'delivery' &&
  line.door === one.door &&
  line.event === one.event &&
  line.client === one.client &&
  subjectOf(line) === subjectOf(one);

/** Whether a line ends what a client is shown of a subject, or lets it ask for all of it again. */
function endsView(event: Event, line: HistoryLine): boolean {
  if (line.e === 'closed') return line.client === event.client && line.door === event.door;
  if (line.e !== 'invoke' || line.client !== event.client) return false;
  return line.f === 'join' || line.f === 'leave' || line.f === 'connect' || line.f === 'stream';
}

/** Index of the next event about the same to the same client, over the same connection and join; -1 if there is none. */
function nextAlike({ lines }: Source, index: number): number {
  const event = lines[index] as Event;
  for (let i = index + 1; i < lines.length; i += 1) {
    const line = lines[i] as HistoryLine;
    if (endsView(event, line)) return -1;
    if (isAlike(event, line)) return i;
  }
  return -1;
}

/** Whether the client's view lasts until everything is read at the end. */
function lastsToTheEnd({ lines }: Source, index: number): boolean {
  const event = lines[index] as Event;
  for (let i = index + 1; i < lines.length; i += 1) {
    const line = lines[i] as HistoryLine;
    if (line.e === 'phase' && line.phase === 'final') return true;
    if (endsView(event, line)) return false;
  }
  return false;
}

/** Events that carry a state: they may be old, repeated or left out, as long as the last one is right. */
const STATES = new Set(['message:read', 'presence', 'room']);

/** Events that who has joined a room can rely on. */
const OF_ROOMS = new Set(['message', ...STATES]);

/** Whether an event is the last word on a state that its client shows until everything is read at the end. */
const isLastWord = (source: Source, index: number): boolean =>
  nextAlike(source, index) < 0 && lastsToTheEnd(source, index);

/** Whether another answer or event shows the same notification. */
function isShownElsewhere({ lines }: Source, index: number): boolean {
  const id = notificationOf(lines[index]);
  return lines.some(
    (line, i) => i !== index && (line.e === 'delivery' || line.e === 'ok') && shows(line, id),
  );
}

const notificationOf = (line: HistoryLine | undefined): number | undefined =>
  line?.e === 'delivery' && line.event === 'notification' ? line.notification.id : undefined;

function shows(line: Answer | Event, id: number | undefined): boolean {
  if (line.e === 'ok') return line.f === 'notifications' && line.notifications.some((one) => one.id === id);
  return notificationOf(line) === id;
}

/** Whether something else in the history tells what an event must say. */
export function isKnown(source: Source, index: number): boolean {
  const event = source.lines[index] as Event;
  if (OF_ROOMS.has(event.event) && !source.settled.has(index)) return false;
  if (STATES.has(event.event)) return isLastWord(source, index);
  return event.event !== 'notification' || isShownElsewhere(source, index);
}

/** Whether it shows that an event did not come, rather than that it is late or that its connection was lost. */
function isMissed(source: Source, index: number): boolean {
  const event = source.lines[index] as Event;
  if (!isKnown(source, index)) return false;
  // Whoever is in a room shows themself.
  if (event.event === 'presence' && event.who === event.member) return false;
  if (STATES.has(event.event)) return true;
  if (!isUnordered(event)) return nextAlike(source, index) >= 0;
  // With a deleted notification older ones are deleted, which need not come any more.
  const { member } = event;
  const hasDeleted = source.lines.some(
    (line) => line.e === 'invoke' && line.f === 'delete' && line.member === member,
  );
  return !hasDeleted && lastsToTheEnd(source, index);
}

/** An event that a client was not sent. */
export function dropEvent(source: Source, indexes: number[], below: Below): Edit | undefined {
  const index = pick(indexes, below) as number;
  const event = source.lines[index] as Event;
  if (!isMissed(source, index)) return undefined;
  const lines = source.lines.toSpliced(index, 1);
  return {
    what: `${nameOf(event)} is not sent: ${JSON.stringify(writtenIn(event))}`,
    line: index + 1,
    lines,
  };
}

/** An event that a client is sent twice. A state may be sent again. */
export function repeatEvent(source: Source, indexes: number[], below: Below): Edit | undefined {
  const index = pick(indexes, below) as number;
  const event = source.lines[index] as Event;
  if (STATES.has(event.event) || !isKnown(source, index)) return undefined;
  const lines = source.lines.toSpliced(index, 0, event);
  return {
    what: `${nameOf(event)} is sent twice: ${JSON.stringify(writtenIn(event))}`,
    line: index + 1,
    lines,
  };
}

const isSame = (a: Answer | Event, b: Answer | Event): boolean =>
  JSON.stringify(writtenIn(a)) === JSON.stringify(writtenIn(b));

/** A line with what the service wrote in another. */
function withWritten<L extends Answer | Event>(frame: L, content: L): L {
  const { t } = frame;
  const own =
    frame.e === 'ok'
      ? { op: frame.op }
      : { client: frame.client, member: frame.member, process: (frame as Event).process };
  return { ...content, ...own, t };
}

/** Whether a socket may be sent events of this kind in any order, if only the last one of a state is right. */
const isUnordered = ({ door, event }: Event): boolean => door === 'socket' && event === 'notification';

/** An event that comes after the next one about the same. */
export function swapEvents(source: Source, indexes: number[], below: Below): Edit | undefined {
  const index = pick(indexes, below) as number;
  const event = source.lines[index] as Event;
  const next = nextAlike(source, index);
  const other = source.lines[next] as Event | undefined;
  if (!other || isSame(event, other) || isUnordered(event) || !isKnown(source, next)) return undefined;
  if (OF_ROOMS.has(event.event) && !source.settled.has(index)) return undefined;
  const changes = new Map([
    [index, withWritten(event, other)],
    [next, withWritten(other, event)],
  ]);
  const what = `${nameOf(event)} comes after the next: ${JSON.stringify(writtenIn(event))}`;
  return { what, line: index + 1, lines: replaced(source.lines, changes) };
}

function roomOf(event: Event): number | undefined {
  if (event.event === 'room') return event.state.room;
  return 'room' in event ? event.room : undefined;
}

/** Whether a member takes part in a room. */
const isIn = ({ lines: [header] }: Source, no: number | undefined, member: number): boolean =>
  header?.e === 'header' &&
  header.rooms.some(({ room, creator, joiner }) => room === no && [creator, joiner].includes(member));

/** An event that a client of another member is sent instead, who takes no part in its room. */
export function misdirectEvent(source: Source, indexes: number[], below: Below): Edit | undefined {
  const [index, at] = [pick(indexes, below) as number, pick(indexes, below) as number];
  const [event, other] = [source.lines[index] as Event, source.lines[at] as Event];
  if (event.member === other.member || isIn(source, roomOf(event), other.member)) return undefined;
  const { client, member, process } = other;
  const changed = { ...event, client, member, process };
  const what = `${nameOf(event)} is sent to ${client}: ${JSON.stringify(writtenIn(event))}`;
  return { what, line: index + 1, lines: replaced(source.lines, new Map([[index, changed]])) };
}

/** What the service wrote in an answer besides numbers that others change at the same time. */
const withoutCounts = (answer: Answer): string =>
  JSON.stringify(writtenIn(answer), (name, value) => (COUNTS.has(name) ? undefined : value));

/** Two requests of a kind, each of which is answered as the other. */
export function exchangeAnswers(source: Source, indexes: number[], below: Below): Edit | undefined {
  const [index, at] = [pick(indexes, below) as number, pick(indexes, below) as number];
  const [answer, other] = [source.lines[index] as Answer, source.lines[at] as Answer];
  if (withoutCounts(answer) === withoutCounts(other)) return undefined;
  const changes = new Map([
    [index, withWritten(answer, other)],
    [at, withWritten(other, answer)],
  ]);
  const what = `${nameOf(answer)} is exchanged with that of line ${at + 1}`;
  return { what, line: index + 1, lines: replaced(source.lines, changes) };
}
