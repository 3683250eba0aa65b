import { expect } from 'chai';
import fc from 'fast-check';
import { MongoNetworkTimeoutError } from 'mongodb';
import { type Appended, type Draft, Ledger } from '../../domain/chat/ledger.js';
import { Message, type MessageRecord } from '../../domain/chat/message.model.js';
import type { RoomRecord } from '../../domain/chat/room.model.js';
import { createRoomStates, stateOf } from '../../domain/chat/room-states.js';
import { noLive } from '../../domain/kernel/live.js';
import { everySchedule } from './every-schedule.js';
import { FakeCollection, type InsertFate, query, replace } from './fake-collection.js';

const nobody = { creator: { seq: 0, others: 0 }, joiner: { seq: 0, others: 0 } };
const room = { _id: 7, saleNo: 1, creator: 1, joiner: 2, createdAt: new Date(0), read: nobody } as RoomRecord;

/** Sends to one room through two processes. A client repeats what failed through the other one, under the same key. */
const program = fc.record({
  sends: fc.array(
    fc.record({
      process: fc.nat(1),
      side: fc.constantFrom('creator' as const, 'joiner' as const),
      /** Several sends with one key are one message. */
      key: fc.nat(4),
    }),
    { minLength: 1, maxLength: 12 },
  ),
  /** All at once through one process, which then stores several by one insert. */
  together: fc.boolean(),
  fates: fc.array(fc.constantFrom<InsertFate>('succeeds', 'fails before', 'fails after'), { maxLength: 4 }),
});

describe('the ledger of messages', () => {
  everySchedule(
    'numbers without gaps, stores each key once, and acknowledges only what is stored',
    program,
    ({ sends, together, fates }, step) => {
      const stored = new FakeCollection<MessageRecord>(
        step,
        ({ seq, senderNo, clientKey }) => [`${seq}`, `${senderNo} ${clientKey}`],
        fates,
      );
      const end = replace(Message.collection, { insertMany: stored.insertMany });
      const endFinding = replace(Message, {
        findOne: ({ senderNo, clientKey }: MessageRecord) =>
          query(async () => {
            await step('look-up of a key');
            return stored.records.find((one) => one.senderNo === senderNo && one.clientKey === clientKey);
          }),
      });
      const newest = () => stored.records.toSorted((a, b) => b.seq - a.seq)[0];
      const acked: Appended[][] = [[], []];
      const faults: string[] = [];
      const ledgers = acked.map(() => {
        const states = createRoomStates(async () => {
          await step('read of the room');
          const state = stateOf(room, newest());
          await step('read is answered');
          return new Map([[room._id, state]]);
        });
        return new Ledger({
          clock: { now: () => 0 },
          states,
          presence: { isPresent: async () => false },
          live: noLive,
          // A schedule has no timers.
          gatherMs: 0,
          onUnknownOutcome() {},
        });
      });

      function check(content: string, { record }: Appended): void {
        const isStored = stored.records.some(({ _id, seq }) => _id === record._id && seq === record.seq);
        if (!isStored) faults.push(`${content} is acknowledged as ${record.seq}, but not stored`);
        if (record.content !== content) faults.push(`${content} is answered with ${record.content}`);
      }

      /** Until it is answered; any other failure than one without an answer is a fault. */
      async function append(at: number, draft: Draft): Promise<void> {
        try {
          const appended = await (ledgers[at] as Ledger).append(room._id, draft);
          check(draft.content, appended);
          if (!appended.repeated) acked[at]?.push(appended);
        } catch (error) {
          if (!(error instanceof MongoNetworkTimeoutError)) throw error;
          await step(`send ${draft.content} again`);
          await append(together ? 0 : 1 - at, draft);
        }
      }

      async function send({ process, side, key }: (typeof sends)[number]): Promise<void> {
        if (!together) await step(`send ${key}`);
        const draft: Draft = { side, contentType: 'text', content: `${key}`, clientKey: `${key}` };
        await append(together ? 0 : process, draft);
      }

      const sent = Promise.all(sends.map(send));
      let isDone = false;
      sent.then(
        () => {
          isDone = true;
        },
        (error) => faults.push(String(error)),
      );
      return () => {
        end();
        endFinding();
        expect(isDone, 'every send is answered').to.equal(true);
        expect(faults).to.deep.equal([]);
        const inOrder = stored.records.toSorted((a, b) => a.seq - b.seq);
        expect(inOrder.map(({ seq }) => seq)).to.deep.equal(inOrder.map((_, i) => i + 1));
        const keys = inOrder.map(({ senderNo, clientKey }) => `${senderNo} ${clientKey}`);
        const asked = sends.map(({ side, key }) => `${side === 'creator' ? 1 : 2} ${key}`);
        expect(keys.toSorted()).to.deep.equal([...new Set(asked)].sort());
        for (const [i, { sent: counts }] of inOrder.entries()) {
          const by = (no: number) => inOrder.slice(0, i + 1).filter(({ senderNo }) => senderNo === no).length;
          expect(counts).to.deep.equal({ creator: by(1), joiner: by(2) });
        }
        for (const own of acked) {
          const seqs = own.map(({ record }) => record.seq);
          expect(seqs, 'acknowledged in order by each process').to.deep.equal(seqs.toSorted((a, b) => a - b));
        }
      };
    },
  );
});
