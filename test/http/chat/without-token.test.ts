import { mock } from 'node:test';
import { expect } from 'chai';
import { MongoNetworkError } from 'mongodb';
import { call, type Member, member } from '../../support/api.js';
import { openRoom, push } from '../../support/chat.js';
import { service } from '../../support/service.js';
import { connect } from '../../support/sockets.js';
import { takeErrors } from '../../support/unexpected-errors.js';

type Setting = 'off' | 'bound' | 'open';

/** What identifies a call. */
type Shown =
  | 'nothing'
  | 'token of the asker'
  | 'token of a third'
  | 'cookie of the asker'
  | 'cookie of a third'
  | 'client of the asker, then a third'
  | 'client of a third'
  | 'client of the author, then the asker'
  | 'client of the asker, then the author, cookie of the asker'
  | 'client of the asker, cookie of a third';

/** The sender named in the payload. */
type Claim = 'nobody' | 'asker' | 'author' | 'third' | 'a stranger';

/** The sender of the stored message, or the status of the refusal. */
type Outcome = 'asker' | 'author' | 401 | 403 | 404;

/** A payload that names the other participant is their message come back, and here they sent none: 404. */
const CASES: [Setting[], Shown, Partial<Record<Claim, Outcome>>][] = [
  [['bound', 'off'], 'nothing', { nobody: 401, asker: 401, author: 401, third: 401, 'a stranger': 401 }],
  [['open'], 'nothing', { nobody: 401, asker: 'asker', author: 'author', third: 401, 'a stranger': 401 }],
  [
    ['bound', 'off', 'open'],
    'token of the asker',
    { nobody: 'asker', asker: 'asker', author: 404, third: 'asker' },
  ],
  [['bound', 'off', 'open'], 'token of a third', { nobody: 403, asker: 403, third: 403 }],
  [['off'], 'cookie of the asker', { nobody: 401, asker: 401 }],
  [
    ['bound'],
    'cookie of the asker',
    { nobody: 'asker', asker: 'asker', author: 404, third: 401, 'a stranger': 401 },
  ],
  [['open'], 'cookie of the asker', { nobody: 'asker', author: 'author', third: 401 }],
  [['bound'], 'cookie of a third', { nobody: 401, asker: 401, third: 401 }],
  [['open'], 'cookie of a third', { nobody: 401, asker: 'asker', third: 401 }],
  [['off'], 'client of the asker, then a third', { nobody: 401, asker: 401 }],
  [
    ['bound'],
    'client of the asker, then a third',
    { nobody: 'asker', asker: 'asker', author: 404, third: 401, 'a stranger': 401 },
  ],
  [['bound'], 'client of a third', { nobody: 401, asker: 401, third: 401 }],
  [['bound'], 'client of the author, then the asker', { nobody: 'asker', asker: 'asker', author: 'author' }],
  [
    ['bound'],
    'client of the asker, then the author, cookie of the asker',
    { nobody: 'asker', author: 'author' },
  ],
  [['bound'], 'client of the asker, cookie of a third', { nobody: 'asker', third: 401 }],
];

describe('who may push a message', () => {
  let people: Record<'asker' | 'author' | 'third', Member>;
  let chatNo: number;
  let saleNo: number;
  const headers = new Map<Shown, Record<string, string>>();

  before(async () => {
    const room = await openRoom();
    ({ chatNo, saleNo } = room);
    people = { asker: room.asker, author: room.author, third: await member() };
    for (const shown of new Set(CASES.map(([, one]) => one))) {
      const sent: Record<string, string> = { 'User-Agent': shown };
      for (const [, name] of shown.matchAll(/(?:client of the |client of a |then the |then a )(\w+)/g)) {
        await people[name as 'asker'].get('/chatroom', sent);
      }
      const [, kind, name = ''] = /(token|cookie) of (?:the|a) (\w+)/.exec(shown) ?? [];
      if (kind === 'token') sent.Authorization = people[name as 'asker'].token;
      if (kind === 'cookie') {
        const { headers: answered } = await people[name as 'asker'].get('/chatroom', {
          'User-Agent': 'elsewhere',
        });
        sent.Cookie = answered.get('set-cookie')?.split(';')[0] ?? '';
      }
      headers.set(shown, sent);
    }
  });
  /** The service reads it with every call. */
  const set = async (LEGACY_ANONYMOUS: Setting) =>
    Object.assign((await service()).config, { LEGACY_ANONYMOUS });
  afterEach(() => set('bound'));

  let sendTime = Date.now();
  /** By address, and by number. */
  const claims = (claim: Claim): object[] => {
    if (claim === 'nobody') return [{}];
    if (claim === 'a stranger') return [{ senderEmail: 'nobody@example.org' }, { senderNo: 99_999_999 }];
    const { email, no } = people[claim];
    return [{ senderEmail: email.toUpperCase() }, { senderNo: no }];
  };

  for (const [settings, shown, outcomes] of CASES) {
    for (const setting of settings) {
      it(`LEGACY_ANONYMOUS=${setting}, ${shown} sent`, async () => {
        await set(setting);
        for (const [claim, expected] of Object.entries(outcomes) as [Claim, Outcome][]) {
          for (const more of claims(claim)) {
            sendTime += 1;
            const { status, body } = await call<{ senderNo?: number }>('/chatroom/notification', {
              method: 'POST',
              json: push(chatNo, saleNo, `message ${sendTime}`, { ...more, sendTime }),
              headers: headers.get(shown) ?? {},
            });
            const outcome = Object.entries(people).find(([, { no }]) => no === body.senderNo)?.[0] ?? status;
            expect(outcome, `${claim} named by ${Object.keys(more)}`).to.equal(expected);
          }
        }
      });
    }
  }

  it('is told to try again, not to log in, when the member of its cookie cannot be looked up', async () => {
    const { members } = (await service()).domain;
    const lookUp = mock.method(members, 'authenticate', async () => {
      throw new MongoNetworkError('the database is away');
    });
    const { status, body } = await call('/chatroom/notification', {
      method: 'POST',
      json: push(chatNo, saleNo, 'hello', { sendTime: ++sendTime }),
      headers: headers.get('cookie of the asker') ?? {},
    });
    lookUp.mock.restore();
    expect(status).to.equal(503);
    expect(body).to.include({ message: 'SERVICE_UNAVAILABLE' });
    takeErrors();
  });

  it('is the member whose socket was authenticated last at a shared client', async () => {
    const shared = { 'User-Agent': 'one browser for both' };
    const sender = async () => {
      const { body } = await call<{ senderNo?: number }>('/chatroom/notification', {
        method: 'POST',
        json: push(chatNo, saleNo, `message ${++sendTime}`, { sendTime }),
        headers: shared,
      });
      return body.senderNo;
    };
    await people.asker.get('/chatroom', shared);
    await people.author.get('/chatroom', shared);
    expect(await sender()).to.equal(people.author.no);
    await connect(people.asker, { extraHeaders: shared });
    expect(await sender()).to.equal(people.asker.no);
  });
});
