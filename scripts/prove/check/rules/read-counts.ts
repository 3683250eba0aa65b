import type { Invoke } from '../../history.js';
import { nameOf, otherOf, type SentMessage, type Sighting } from '../facts/messages.js';
import { wasConnected } from '../facts/views.js';
import { at, type Rule } from '../rule.js';

/** What one member has read of one room, by the operations that read it. */
interface Reading {
  /** Of the reads that succeeded, the one that was asked for last, and when it was answered. */
  askedAt: number;
  answeredAt: number;
  /** When the member could last have read it. */
  perhapsAt: number;
  /** Reads under way. */
  open: number;
}

type AskedRead = Extract<Invoke, { f: 'join' | 'messages' | 'read' }>;

const isRead = (asked: Invoke): asked is AskedRead =>
  asked.f === 'join' || asked.f === 'messages' || asked.f === 'read';

export const readCounts: Rule = {
  name: 'read-counts',
  says: 'A message is shown as read once its recipient has read it, from the start if they are in the room, and not before they could have',
  source: 'docs/contract.md, section 4; gateway/PROTOCOL.md, `room:join`, `message:read`',
  watch(run, report) {
    const readings = new Map<string, Reading>();
    /** First sightings as unread of messages whose recipient seems to be in the room; whether they are, the end tells. */
    const unread = new Map<SentMessage, { t: number; text: string }>();
    const of = (room: number, member: number): Reading => {
      const key = `${room} ${member}`;
      const never = Number.NEGATIVE_INFINITY;
      const reading = readings.get(key) ?? { askedAt: never, answeredAt: never, perhapsAt: never, open: 0 };
      readings.set(key, reading);
      return reading;
    };
    const mayRead = (asked: AskedRead, open: number) => {
      const reading = of(asked.room, asked.member);
      reading.open += open;
      reading.perhapsAt = run.now;
      return reading;
    };

    /** @returns what is wrong with the count. @param reader the recipient */
    function faultOf(
      { seen, by, askedAt, room }: Sighting,
      message: SentMessage,
      reader: number,
    ): string | undefined {
      const reading = of(room, reader);
      if (seen.readCount === 0) {
        const couldRead = reading.open > 0 || reading.perhapsAt >= message.askedAt;
        if (couldRead || run.views.maybeIn(room, reader, run.now)) return undefined;
        return `as read; member ${reader} cannot have read it`;
      }
      if (seen.readCount !== 1) return `with the read count ${seen.readCount}`;
      const { ackedAt = Number.POSITIVE_INFINITY } = message;
      // A push may be older, and an acknowledgement is as the message was stored.
      const isOld = by === 'push' || by === 'acknowledgement' || reading.answeredAt >= askedAt;
      if (isOld || ackedAt >= reading.askedAt) return undefined;
      return `as unread; member ${reader} has read it, asked at ${at(reading.askedAt)}`;
    }

    return {
      asked(asked) {
        if (isRead(asked)) mayRead(asked, 1);
        if (asked.f !== 'send') return;
        const recipient = otherOf(run.messages.room(asked.room), asked.member);
        if (run.views.maybeIn(asked.room, recipient, asked.t)) of(asked.room, recipient).perhapsAt = run.now;
      },
      answered({ t }, asked) {
        if (!isRead(asked)) return;
        const reading = mayRead(asked, -1);
        // A read position covers only a part; a join that a leave meets, perhaps nothing.
        const isIn = asked.f !== 'join' || run.views.of(asked.room, asked.client)?.state === 'in';
        if (asked.f === 'read' || !isIn || asked.t < reading.askedAt) return;
        Object.assign(reading, { askedAt: asked.t, answeredAt: t });
      },
      unanswered(_, asked) {
        if (isRead(asked)) mayRead(asked, -1);
      },
      saw(sighting) {
        const { message, seen, by, client, askedAt, room } = sighting;
        if (!message || message.room.no !== room) return;
        const fault = faultOf(sighting, message, otherOf(message.room, message.sender));
        const text = `a ${by} by ${client}, asked at ${at(askedAt)}, shows ${nameOf(seen)}`;
        if (fault) report(`${text} ${fault}`);
        else if (seen.readCount === 1 && message.present && !unread.has(message))
          unread.set(message, { t: run.now, text: `${text} as unread` });
      },
      end() {
        for (const [{ present, ackedAt }, { t, text }] of unread) {
          if (!present || ackedAt === undefined || !wasConnected(present, ackedAt)) continue;
          report(`${text}; the recipient’s socket ${present.client} was in the room when it came`, t);
        }
      },
    };
  },
};
