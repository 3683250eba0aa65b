import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import fc from 'fast-check';
import { pino } from 'pino';
import type { Delivery, Notifications } from '../../domain/notifications/index.js';
import { Stream } from '../../http/sse/stream.js';
import { FakeResponse } from '../http/sse/fakes.js';
import { everySchedule } from './every-schedule.js';

const MEMBER = 1;
const logger = pino({ level: 'silent' });

/** Notifications whose pushes arrive in any order, none, once or twice, and of which some are deleted, while the client comes and goes. */
const program = fc.record({
  before: fc.nat(2),
  pushes: fc.array(fc.record({ copies: fc.nat(2), isDeleted: fc.boolean() }), { minLength: 1, maxLength: 6 }),
  pageSize: fc.integer({ min: 1, max: 3 }),
  failedReads: fc.array(fc.boolean(), { maxLength: 4 }),
  reconnects: fc.nat(2),
});

const deliveryOf = (n: number) => ({ memberNo: MEMBER, n, publishedAt: 0, view: { id: n } }) as Delivery;

describe('an event stream', () => {
  everySchedule(
    'carries each notification once and in order, over reconnects, and leaves out deleted ones alone',
    program,
    ({ before, pushes, pageSize, failedReads, reconnects }, step) => {
      const stored: number[] = [];
      const deleted = new Set<number>();
      const listeners = new Set<(delivery: Delivery) => void>();
      const failures = [...failedReads];
      /** What the client has received so far, over all its connections. */
      const received: number[] = [];
      let last = 0;
      let open: { stream: Stream; res: FakeResponse } | undefined;

      const store = (): number => {
        const n = (stored.at(-1) ?? 0) + 1;
        stored.push(n);
        return n;
      };
      for (let i = 0; i < before; i += 1) store();

      const notifications = {
        subscribe(_memberNo: number, listener: (delivery: Delivery) => void) {
          listeners.add(listener);
          return { ready: step('the subscription stands'), end: () => void listeners.delete(listener) };
        },
        async *replayAfter(_memberNo: number, after: number) {
          for (let from = after, isLast = false; !isLast; ) {
            await step('read');
            const page = stored.filter((n) => n > from).slice(0, pageSize);
            const shown = page.filter((n) => !deleted.has(n));
            await step('read is answered');
            if (failures.shift()) throw new Error('the database does not answer');
            isLast = page.length < pageSize;
            from = page.at(-1) ?? from;
            yield shown.map(deliveryOf);
          }
        },
      } as unknown as Notifications;

      function connect(): void {
        const res = new FakeResponse();
        const onClose = () => {
          received.push(...res.numbers);
          last = received.at(-1) ?? 0;
          open = undefined;
          void step('the client reconnects').then(connect);
        };
        const services = { notifications, logger, onClose };
        const stream = new Stream(res as unknown as ServerResponse, services, MEMBER, 0, last);
        open = { stream, res };
      }

      async function push(n: number): Promise<void> {
        await step(`push of ${n}`);
        for (const listener of listeners) listener(deliveryOf(n));
      }

      async function remove(n: number): Promise<void> {
        await step(`${n} is deleted`);
        deleted.add(n);
      }

      async function write(): Promise<void> {
        for (const { copies, isDeleted } of pushes) {
          await step('store');
          const n = store();
          for (let copy = 0; copy < copies; copy += 1) void push(n);
          if (isDeleted) void remove(n);
        }
      }

      async function leave(): Promise<void> {
        for (let i = 0; i < reconnects; i += 1) {
          await step('the connection is lost');
          open?.stream.close('client');
        }
      }

      connect();
      void write();
      void leave();
      return async (settle) => {
        // Lost pushes are found by the poll, which is repeated, with the next notification at the latest.
        const newest = store();
        for (let i = 0; i <= failedReads.length; i += 1) {
          void push(newest);
          await settle();
        }
        received.push(...(open?.res.numbers ?? []));
        expect(received).to.deep.equal([...new Set(received)].sort((a, b) => a - b));
        expect(stored.filter((n) => !received.includes(n) && !deleted.has(n))).to.deep.equal([]);
      };
    },
  );
});
