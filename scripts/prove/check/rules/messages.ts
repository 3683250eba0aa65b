import { canBeNumber, nameOf, type RoomRecord, type SentMessage, type Sighting } from '../facts/messages.js';
import type { Run } from '../facts/run.js';
import { type Answered, type Asked, at, type Report, type Rule } from '../rule.js';

const where = ({ room, client, by }: Sighting): string => `room ${room}, ${by} of ${client}`;

export const forged: Rule = {
  name: 'nobody-sent-it',
  says: 'Every message shown was sent, to this room and by this sender, and was not refused',
  source: 'docs/contract.md, section 4',
  watch: (_run, report) => ({
    saw(sighting) {
      const { seen, message, room } = sighting;
      const shown = `${where(sighting)}: ${nameOf(seen)} of member ${seen.sender}`;
      if (!message) report(`${shown}: nobody has sent it`);
      else if (message.room.no !== room) report(`${shown}: it was sent to room ${message.room.no}`);
      else if (message.sender !== seen.sender) report(`${shown}: member ${message.sender} sent it`);
      else if (message.type !== seen.type)
        report(`${shown}: it is shown as ${seen.type ?? 'text'}, and was sent as ${message.type ?? 'text'}`);
      else if (message.refused) report(`${shown}: every attempt to send it was refused`);
    },
  }),
};

export const once: Rule = {
  name: 'stored-once',
  says: 'A message is stored once, however often it is sent with its client key, and keeps its id',
  source: 'docs/contract.md, sections 4 and 5, promise 2',
  watch: (run, report) => ({
    saw(sighting) {
      const { seen, message } = sighting;
      if (!message) return;
      if (message.id !== undefined && message.id !== seen.id) {
        report(
          `${where(sighting)}: "${seen.content}" (client key ${message.key}) has the id ${seen.id}, and had ${message.id} before`,
        );
      }
      const known = run.messages.byId(seen.id);
      if (known && known.content !== seen.content) {
        report(`${where(sighting)}: id ${seen.id} is "${seen.content}", and was "${known.content}" before`);
      }
    },
    answered(ok, asked) {
      if (ok.f === 'postback' && asked.f === 'postback' && ok.message.id !== asked.message)
        report(
          `room ${asked.room}: message ${asked.message}, posted back, is answered with ${ok.message.id}`,
        );
      if (ok.f !== 'messages' && ok.f !== 'join') return;
      if (asked.f !== 'messages' && asked.f !== 'join') return;
      const ids = new Set<string>();
      for (const seen of ok.messages) {
        if (ids.has(seen.id))
          report(`${asked.f} of room ${asked.room} by ${asked.client} shows ${nameOf(seen)} twice`);
        ids.add(seen.id);
      }
    },
  }),
};

export const numbers: Rule = {
  name: 'numbered-without-holes',
  says: 'The messages of a room have the numbers 1, 2, 3 … without a hole, each one number',
  source: 'docs/contract.md, section 5; docs/decisions/chat-ledger.md',
  watch: (run, report) => ({
    saw(sighting) {
      const { seen, message, room } = sighting;
      if (!message || seen.seq === undefined || message.room.no !== room) return;
      if (!canBeNumber(message.room, seen.seq)) {
        report(
          `${where(sighting)}: ${nameOf(seen)} cannot have its number: the room has not as many messages`,
        );
        return;
      }
      if (message.seq !== seen.seq) {
        report(`${where(sighting)}: ${nameOf(seen)} had the number ${message.seq} before`);
        return;
      }
      const holder = message.room.bySeq[seen.seq];
      if (holder && holder !== message)
        report(`${where(sighting)}: ${nameOf(seen)} has the number of ${nameOf(holder)}`);
    },
    end() {
      // Only at its end have all messages been seen with their numbers.
      if (!run.hasEnded) return;
      for (const room of run.messages.rooms.values()) {
        for (let seq = 1; seq <= room.head; seq += 1) {
          const follower = room.bySeq[seq + 1];
          if (room.bySeq[seq] || !follower) continue;
          report(
            `room ${room.no}: nobody was ever shown number ${seq}, but ${nameOf(follower)}`,
            follower.seenAt,
          );
        }
      }
    },
  }),
};

/** A list has no numbers: that the pairs in it are neighbours shows when their numbers are known. */
function link(message: SentMessage, previous: SentMessage | null, report: Report, shown: string): void {
  const known = message.previous;
  if (known === undefined) message.previous = previous;
  else if (known !== previous) {
    report(
      `${shown}: ${nameOf(message)} follows ${previous ? nameOf(previous) : 'nothing'}; another read showed it after ${known ? nameOf(known) : 'nothing'}`,
    );
  }
}

/** Compares what a list showed before a message with the numbers. */
function checkLink(message: SentMessage, report: Report): void {
  const { previous, seq, room, seenAt } = message;
  if (seq === undefined || previous === undefined) return;
  const before = previous ? previous.seq : 0;
  if (before === undefined || before === seq - 1) return;
  report(
    `a page of room ${room.no} shows ${nameOf(message)} after ${previous ? nameOf(previous) : 'nothing'}`,
    seenAt,
  );
}

/** A page has no more messages than were asked for, in the order of all other reads; if it has fewer, from the first one on. */
function checkPage(
  { messages }: Run,
  ok: Answered<'messages'>,
  asked: Asked<'messages'>,
  report: Report,
): void {
  const shown = `page of room ${asked.room} by ${asked.client}, asked at ${at(asked.t)}`;
  if (ok.messages.length > asked.limit) report(`${shown}: more than ${asked.limit} messages`);
  const page = ok.messages.map(({ content }) => messages.byContent(content));
  if (asked.before !== undefined) page.push(messages.byId(asked.before));
  for (const [i, message] of page.entries()) {
    const previous = page[i - 1];
    if (message && previous && message !== previous) link(message, previous, report, shown);
  }
  const [first] = page;
  if (ok.messages.length < asked.limit && first) link(first, null, report, shown);
}

export const order: Rule = {
  name: 'same-order-for-all',
  says: 'Everybody is shown the messages of a room in the same order, by REST pages as by sockets',
  source: 'docs/contract.md, promise 3',
  watch: (run, report) => ({
    answered(ok, asked) {
      if (ok.f === 'messages' && asked.f === 'messages') checkPage(run, ok, asked, report);
    },
    end() {
      for (const message of run.messages.all()) checkLink(message, report);
    },
  }),
};

/** For each message: none with a lower number was first asked for after it was acknowledged. */
function checkAsked(room: RoomRecord, report: Report): void {
  let last: SentMessage | undefined;
  for (let seq = 1; seq <= room.head; seq += 1) {
    const message = room.bySeq[seq];
    if (!message) continue;
    if (last && message.ackedAt !== undefined && last.askedAt > message.ackedAt) {
      report(
        `room ${room.no}: ${nameOf(last)} was asked for at ${at(last.askedAt)}, after ${nameOf(message)} was acknowledged at ${at(message.ackedAt)}, and has a lower number`,
        last.askedAt,
      );
    }
    if (message.askedAt > (last?.askedAt ?? Number.NEGATIVE_INFINITY)) last = message;
  }
}

export const ackOrder: Rule = {
  name: 'later-is-numbered-later',
  says: 'A message has a higher number than every one acknowledged before it was first asked for',
  source: 'docs/decisions/chat-ledger.md',
  watch: (run, report) => ({
    end() {
      for (const room of run.messages.rooms.values()) checkAsked(room, report);
    },
  }),
};
