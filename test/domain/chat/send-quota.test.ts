import { expect } from 'chai';
import { MongoNetworkTimeoutError } from 'mongodb';
import type { ChatDeps } from '../../../domain/chat/chat-deps.js';
import { sendMessage } from '../../../domain/chat/send-message.js';
import { noLive } from '../../../domain/kernel/live.js';
import { createQuotas } from '../../../domain/platform/rate-limits/index.js';
import { FakeMessages, JOINER, outcomes } from './fake-messages.js';

describe('the quota of messages', () => {
  let db: FakeMessages;
  beforeEach(() => {
    db = new FakeMessages();
  });
  afterEach(() => db.end());

  it('does not count sends that fail', async () => {
    let current = async <T>(actor: T) => actor;
    const deps = {
      states: db.states,
      ledger: db.ledger,
      live: noLive,
      changes: { touch() {} },
      notifyAbsent: { enqueue() {} },
      directory: { current: <T>(actor: T) => current(actor) },
      quotas: createQuotas({
        RATE_LIMIT: 'on',
        ROOMS_PER_DAY: 1,
        MESSAGES_PER_DAY: 3,
        ARTICLES_PER_DAY: 1,
        COMMENTS_PER_DAY: 1,
      }),
    } as unknown as ChatDeps;
    const actor = { no: JOINER, email: '', nickname: 'Minji', profile: '', role: 'USER' } as const;
    const send = async () =>
      (await sendMessage(deps, actor, { chatNo: 1, contentType: 'text', content: 'x' })).seq;
    const failure = new MongoNetworkTimeoutError('the answer did not come');
    db.before = () => {
      throw failure;
    };
    expect(await outcomes([send(), send(), send()])).deep.equal([failure, failure, failure]);
    db.before = () => {};
    const nameOf = current;
    current = async () => {
      throw failure;
    };
    expect(await outcomes([send(), send(), send()])).deep.equal([failure, failure, failure]);
    current = nameOf;
    expect(await outcomes([send(), send(), send()])).deep.equal([1, 2, 3]);
    expect(await send().catch((error) => error)).include({ code: 'QUOTA_EXCEEDED' });
  });
});
