import { expect } from 'chai';
import { MongoNetworkTimeoutError } from 'mongodb';
import type { ChatDeps } from '../../../domain/chat/chat-deps.js';
import type { Draft } from '../../../domain/chat/ledger.js';
import type { MessageRecord } from '../../../domain/chat/message.model.js';
import { sendMessage } from '../../../domain/chat/send-message.js';
import type { Actor } from '../../../domain/kernel/actor.js';
import { type MessagePayload, noLive } from '../../../domain/kernel/live.js';
import { unlimitedQuotas } from '../../../domain/platform/rate-limits/index.js';
import { FakeMessages, JOINER, outcomes } from './fake-messages.js';

describe('sendMessage delivers', () => {
  let db: FakeMessages;
  /** Of each message in turn: its number, and how many messages its room holds. */
  let delivered: [seq: number, stored: number][];
  /** What happened, with a message's number. */
  let order: string[];
  /** Numbers of the messages that the notifier of absent members was given. */
  let queued: number[];
  let message: (payload: MessagePayload) => void;

  beforeEach(() => {
    db = new FakeMessages();
    [delivered, order, queued] = [[], [], []];
    message = ({ chatNo, seq }) => {
      delivered.push([seq, db.held(chatNo).length]);
      order.push(`delivered ${seq}`);
    };
  });

  afterEach(() => db.end());

  const deliver = async (content: string): Promise<number> => {
    const deps = {
      states: db.states,
      ledger: {
        append(chatNo: number, draft: Draft) {
          const appended = db.ledger.append(chatNo, draft);
          appended.then(
            ({ record }) => order.push(`stored ${record.seq}`),
            () => {},
          );
          return appended;
        },
      },
      live: { ...noLive, message: (payload: MessagePayload) => message(payload) },
      changes: { touch() {} },
      notifyAbsent: { enqueue: ({ seq }: MessageRecord) => queued.push(seq) },
      directory: { current: async (actor: Actor) => actor },
      quotas: unlimitedQuotas,
    };
    const actor: Actor = { no: JOINER, email: '', nickname: 'Minji', profile: '', role: 'USER' };
    const input = { chatNo: 1, contentType: 'text', content } as const;
    return (await sendMessage(deps as unknown as ChatDeps, actor, input)).seq;
  };
  const deliverAll = (count: number) => Array.from({ length: count }, (_, i) => deliver(`${i}`));

  for (const [count, perInsert] of [
    [3, 3],
    [200, 100],
  ] as const) {
    it(`${count} messages sent at once in order, each when it is stored and before the next insert`, async () => {
      const seqs = await Promise.all(deliverAll(count));
      expect(db.inserts).deep.equal(Array(count / perInsert).fill(perInsert));
      expect(delivered).deep.equal(seqs.map((seq) => [seq, Math.ceil(seq / perInsert) * perInsert]));
      expect(seqs).deep.equal(Array.from({ length: count }, (_, i) => i + 1));
      // Nothing else runs between the two.
      expect(order).deep.equal(seqs.flatMap((seq) => [`stored ${seq}`, `delivered ${seq}`]));
      expect(queued).deep.equal(seqs);
    });
  }

  it('the others where one delivery fails: its send fails, its record stays to be notified of', async () => {
    const failure = new Error('nobody to deliver to');
    const record = message;
    message = (payload) => {
      if (payload.content === '4') throw failure;
      record(payload);
    };
    expect(await outcomes(deliverAll(10))).deep.equal([1, 2, 3, 4, failure, 6, 7, 8, 9, 10]);
    expect(delivered.map(([seq]) => seq)).deep.equal([1, 2, 3, 4, 6, 7, 8, 9, 10]);
    expect(queued).deep.equal([1, 2, 3, 4, 6, 7, 8, 9, 10]);
    expect(db.held(1)[4]).property('unannounced', true);
  });

  for (const count of [1, 10]) {
    it(`nothing of a failed insert of ${count}`, async () => {
      const failure = new MongoNetworkTimeoutError('the answer did not come');
      db.before = () => {
        throw failure;
      };
      expect(new Set(await outcomes(deliverAll(count)))).deep.equal(new Set([failure]));
      expect([delivered, queued]).deep.equal([[], []]);
    });
  }
});
