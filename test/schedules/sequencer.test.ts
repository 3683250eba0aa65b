import { expect } from 'chai';
import fc from 'fast-check';
import { pino } from 'pino';
import type { MessagePayload } from '../../domain/kernel/live.js';
import { Sequencer } from '../../gateway/order/sequencer.js';
import { everySchedule } from './every-schedule.js';
import { replace } from './fake-collection.js';

const CHAT = 7;
const logger = pino({ level: 'silent' });

/**
 * Messages whose pushes arrive in any order, none, once or twice, signed or not, changes of the room's
 * state, and sockets that come and go meanwhile, some before they are in.
 */
const program = fc.record({
  before: fc.nat(2),
  pushes: fc.array(fc.record({ copies: fc.nat(2), isBelieved: fc.boolean() }), {
    minLength: 1,
    maxLength: 6,
  }),
  changes: fc.nat(2),
  sockets: fc.array(fc.record({ stays: fc.constantFrom('long', 'a while', 'not') }), {
    minLength: 1,
    maxLength: 3,
  }),
  pageSize: fc.integer({ min: 1, max: 3 }),
  failedReads: fc.array(fc.boolean(), { maxLength: 4 }),
});

/** What one socket is sent: the answer to its join, and then messages. */
class Socket {
  last: number | undefined;
  readonly faults: string[] = [];

  receive(seq: number): void {
    if (this.last === undefined) this.faults.push(`${seq} before the answer to the join`);
    else if (seq !== this.last + 1) this.faults.push(`${seq} follows ${this.last}`);
    this.last = seq;
  }
}

describe('the sequencer', () => {
  everySchedule(
    'sends every socket each message once and in order, from its join on, and delivers every change',
    program,
    ({ before, pushes, changes, sockets, pageSize, failedReads }, step) => {
      const stored: MessagePayload[] = [];
      const changed: number[] = [];
      const inRoom = new Set<Socket>();
      const all = sockets.map(() => new Socket());
      const failures = [...failedReads];
      const store = () => {
        const message = { chatNo: CHAT, seq: stored.length + 1, senderNo: 1, readCount: 1, sendTime: 0 };
        stored.push(message as MessagePayload);
        return message as MessagePayload;
      };
      for (let i = 0; i < before; i += 1) store();
      // Waiting ends when the schedule says so.
      const endTimers = replace(globalThis, {
        setTimeout: (run: () => void) => {
          void step('a pause ends').then(run);
          return { unref() {} };
        },
      });
      const emit = ({ seq }: MessagePayload, exceptSocket?: string) => {
        for (const socket of inRoom) if (`${all.indexOf(socket)}` !== exceptSocket) socket.receive(seq);
      };
      const sequencer = new Sequencer({
        async read(_chatNo, after) {
          await step('read');
          const page = stored.filter(({ seq }) => seq > after).slice(0, pageSize);
          await step('read is answered');
          if (failures.shift()) throw new Error('the database does not answer');
          return page;
        },
        entering: () => undefined,
        isOccupied: () => inRoom.size > 0,
        emit,
        emitRead() {},
        noteMessage() {},
        noteRead() {},
        filled() {},
        logger,
      });

      async function push(payload: MessagePayload, isBelieved: boolean): Promise<void> {
        await step(`push of ${payload.seq}`);
        sequencer.offer(payload, isBelieved ? () => emit(payload) : undefined);
      }

      async function write(): Promise<void> {
        for (const { copies, isBelieved } of pushes) {
          await step('store');
          const payload = store();
          for (let copy = 0; copy < copies; copy += 1) void push(payload, isBelieved);
        }
      }

      async function change(): Promise<void> {
        for (let i = 0; i < changes; i += 1) {
          await step(`change ${i}`);
          sequencer.offerChange(CHAT, () => changed.push(i));
        }
      }

      async function visit(socket: Socket, stays: string): Promise<void> {
        await step('join');
        try {
          const { seq } = await sequencer.enter(CHAT, `${all.indexOf(socket)}`, async () => {
            // The connection has closed meanwhile.
            if (stays === 'not') return { seq: -1 };
            inRoom.add(socket);
            await step('read for the join');
            const newest = stored.length;
            await step('join is answered');
            return { seq: newest };
          });
          socket.last = seq;
        } catch {
          // The answer to the join is an error: the client joins again, which is another socket here.
          inRoom.delete(socket);
          if (inRoom.size === 0) sequencer.leave(CHAT);
          return;
        }
        if (stays !== 'a while') return;
        await step('leave');
        inRoom.delete(socket);
        if (inRoom.size === 0) sequencer.leave(CHAT);
      }

      void write();
      void change();
      for (const [i, { stays }] of sockets.entries()) void visit(all[i] as Socket, stays);
      return async (settle) => {
        // Lost pushes are found by one comparison, as by a report: failed reads are repeated, whoever joins meanwhile.
        sequencer.compare({ chatNo: CHAT, seq: stored.length, reads: [] });
        void visit(new Socket(), 'not');
        await settle();
        endTimers();
        expect(changed).to.deep.equal(Array.from({ length: changes }, (_, i) => i));
        expect(all.flatMap(({ faults }) => faults)).to.deep.equal([]);
        for (const socket of inRoom) expect(socket.last).to.equal(stored.length);
      };
    },
  );
});
