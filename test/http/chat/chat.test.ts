import { expect } from 'chai';
import { call, type Member, member } from '../../support/api.js';
import { adoptionPost, openRoom } from '../../support/chat.js';
import { connect } from '../../support/sockets.js';

interface RoomElement {
  chatNo: number;
  unReadCount: number;
}

/** The documented payload as the legacy client fills it for a new message. */
function push(chatNo: number, saleNo: number, content: string, more: object = {}): object {
  return {
    id: null,
    chatNo,
    contentType: 'text',
    content,
    senderName: null,
    senderNo: null,
    saleNo,
    sendTime: Date.now(),
    readCount: null,
    senderEmail: null,
    ...more,
  };
}

describe('POST /chatroom', () => {
  it('makes one room for a pair and a sale, also when both ask at the same instant', async () => {
    const [author, asker] = [await member(), await member()];
    const saleNo = await adoptionPost(author);
    const asks = [author.no, asker.no, author.no, asker.no].map((createMember) =>
      asker.post('/chatroom', { saleNo, createMember }),
    );
    for (const { status, body } of await Promise.all(asks)) {
      expect(status).to.equal(200);
      expect(body).to.deep.equal({ status: 200 });
    }
    const rooms = await author.get<RoomElement[]>('/chatroom');
    expect(rooms.body).to.have.length(1);
    expect(rooms.body[0]).to.include({
      createMember: author.no,
      joinMember: asker.no,
      saleNo,
      unReadCount: 0,
    });
    expect(rooms.body[0]).to.not.have.property('latestMessage');
  });

  it('takes its numbers as text of digits, as the app sends them', async () => {
    const [author, asker] = [await member(), await member()];
    const saleNo = await adoptionPost(author);
    const asked = { saleNo: `${saleNo}`, createMember: `${author.no}` };
    expect((await asker.post('/chatroom', asked)).body).to.deep.equal({ status: 200 });
    expect((await author.get<RoomElement[]>('/chatroom')).body[0]).to.include({ saleNo });
  });

  it('refuses the author alone, a third member as creator, and a sale that is not there', async () => {
    const [author, asker, third] = [await member(), await member(), await member()];
    const saleNo = await adoptionPost(author);
    expect((await author.post('/chatroom', { saleNo, createMember: author.no })).status).to.equal(400);
    const foreign = await asker.post<{ errors: string[] }>('/chatroom', { saleNo, createMember: third.no });
    expect(foreign.status).to.equal(400);
    expect(foreign.body.errors[0]).to.match(/createMember/);
    const missing = await asker.post('/chatroom', { saleNo: 987_654_321, createMember: asker.no });
    expect(missing.body).to.deep.equal({
      status: 404,
      message: 'SALE_NOT_FOUND',
      errors: ['saleNo: adoption post 987654321 does not exist'],
    });
    expect((await asker.get<unknown[]>('/chatroom')).body).to.deep.equal([]);
  });
});

describe('GET /chatroom', () => {
  it('lists exactly the documented fields, newest activity first, and filters by sale', async () => {
    const { author, asker, saleNo, saleTitle, chatNo } = await openRoom();
    const otherSale = await adoptionPost(author, 'Nabi, a calm cat');
    await asker.post('/chatroom', { saleNo: otherSale, createMember: author.no });
    const sent = await asker.post<{ sendTime: number }>(
      '/chatroom/notification',
      push(chatNo, saleNo, 'hello'),
    );
    const { body } = await author.get<(RoomElement & { regDate: number; saleNo: number })[]>('/chatroom');
    expect(body.map((room) => room.saleNo)).to.deep.equal([saleNo, otherSale]);
    expect(body[0]).to.deep.equal({
      chatNo,
      createMember: author.no,
      joinMember: asker.no,
      saleNo,
      saleTitle,
      regDate: body[0]?.regDate,
      participant: { username: asker.nickname, profile: '' },
      latestMessage: { context: 'hello', sendAt: sent.body.sendTime },
      unReadCount: 1,
    });
    expect(body[0]?.regDate).to.be.closeTo(Date.now(), 60_000);
    const one = await author.get<RoomElement[]>(`/chatroom?saleNo=${otherSale}`);
    expect(one.body.map((room) => room.chatNo)).to.not.include(chatNo);
    expect(one.body).to.have.length(1);
  });
});

describe('GET /chatroom/{chat_no}', () => {
  it('pages back from a message id and takes at most what is asked', async () => {
    const { asker, author, saleNo, chatNo } = await openRoom();
    for (let i = 1; i <= 5; i += 1) {
      await asker.post('/chatroom/notification', push(chatNo, saleNo, `m${i}`, { sendTime: i }));
    }
    const read = (query: string) =>
      author.get<{ chatList: { id: string; content: string }[] }>(`/chatroom/${chatNo}${query}`);
    const last = await read('?limit=2');
    expect(last.body.chatList.map(({ content }) => content)).to.deep.equal(['m4', 'm5']);
    const before = await read(`?limit=2&before=${last.body.chatList[0]?.id}`);
    expect(before.body.chatList.map(({ content }) => content)).to.deep.equal(['m2', 'm3']);
    expect((await read('?before=unknown')).status).to.equal(404);
    expect((await read('?limit=1001')).status).to.equal(400);
    expect((await (await member()).get(`/chatroom/${chatNo}`)).status).to.equal(403);
  });

  it('marks nothing read for a HEAD request', async () => {
    const { asker, author, saleNo, chatNo } = await openRoom();
    await asker.post('/chatroom/notification', push(chatNo, saleNo, 'unread'));
    const head = (headers: Record<string, string>) =>
      call(`/chatroom/${chatNo}?limit=1`, { method: 'HEAD', headers });
    expect((await head({ Authorization: author.token })).status).to.equal(200);
    expect((await head({ Authorization: (await member()).token })).status).to.equal(403);
    const unread = async () => (await author.get<RoomElement[]>('/chatroom')).body[0]?.unReadCount;
    expect(await unread()).to.equal(1);
    await author.get(`/chatroom/${chatNo}`);
    expect(await unread()).to.equal(0);
  });
});

describe('POST /chatroom/notification', () => {
  let author: Member;
  let asker: Member;
  let chatNo: number;
  let saleNo: number;

  beforeEach(async () => {
    ({ author, asker, chatNo, saleNo } = await openRoom());
  });

  it('stores and delivers as a socket send does, and fills every field', async () => {
    const theirs = await connect(author);
    await theirs.ask('room:join', { chatNo });
    const answer = await asker.post<Record<string, unknown>>(
      '/chatroom/notification',
      push(chatNo, saleNo, 'hi'),
    );
    expect(answer.body).to.deep.equal({
      id: answer.body.id,
      chatNo,
      contentType: 'text',
      content: 'hi',
      senderName: asker.nickname,
      senderNo: asker.no,
      saleNo,
      sendTime: answer.body.sendTime,
      readCount: 0,
      senderEmail: asker.email,
    });
    expect(answer.body.id).to.be.a('string');
    expect(answer.body.sendTime).to.be.closeTo(Date.now(), 10_000);
    expect(await theirs.next('message')).to.deep.equal({ ...answer.body, seq: 1 });
    expect((await author.get<unknown[]>('/notification/all')).body, 'present: no notification').to.deep.equal(
      [],
    );
  });

  it('answers a retry with the first message', async () => {
    const body = push(chatNo, saleNo, 'once');
    const answers = await Promise.all([1, 2, 3].map(() => asker.post('/chatroom/notification', body)));
    expect(answers[1]?.body).to.deep.equal(answers[0]?.body);
    expect(answers[2]?.body).to.deep.equal(answers[0]?.body);
    const list = await asker.get<{ chatList: unknown[] }>(`/chatroom/${chatNo}`);
    expect(list.body.chatList).to.have.length(1);
  });

  const contents = async () =>
    (await asker.get<{ chatList: { content: string }[] }>(`/chatroom/${chatNo}`)).body.chatList.map(
      ({ content }) => content,
    );

  it('takes its numbers as text of digits, a retry among them', async () => {
    const sendTime = Date.now();
    const first = await asker.post<{ id: string }>(
      '/chatroom/notification',
      push(chatNo, saleNo, 'once', { sendTime }),
    );
    const asText = { chatNo: `${chatNo}`, saleNo: `${saleNo}`, sendTime: `${sendTime}` };
    const again = await asker.post('/chatroom/notification', push(chatNo, saleNo, 'once', asText));
    expect(again.body).to.deep.equal(first.body);
    expect(await contents()).to.deep.equal(['once']);
  });

  it('takes two pushes with the same text for two messages where sendTime is no plausible moment', async () => {
    const day = 24 * 3_600_000;
    const moments = [0, 1, '1', Date.now() - day - 60_000, Date.now() + day + 60_000, 2 ** 53 - 1, null];
    for (const sendTime of moments) {
      const body = push(chatNo, saleNo, `at ${sendTime}`, { sendTime });
      const answers = [
        await asker.post<{ id: string }>('/chatroom/notification', body),
        await asker.post<{ id: string }>('/chatroom/notification', body),
      ];
      expect(answers.map(({ status }) => status)).to.deep.equal([200, 200]);
      expect(answers[0]?.body.id, `sendTime ${sendTime}`).not.to.equal(answers[1]?.body.id);
    }
    const plausible = [Date.now() - day + 60_000, Date.now() + day - 60_000, new Date().toISOString()];
    for (const sendTime of plausible) {
      const body = push(chatNo, saleNo, `at ${sendTime}`, { sendTime });
      const first = await asker.post('/chatroom/notification', body);
      expect((await asker.post('/chatroom/notification', body)).body).to.deep.equal(first.body);
    }
    expect(await contents()).to.have.length(2 * moments.length + plausible.length);
    for (const sendTime of ['now', -1, 1.5, {}, '2022-13-45T99:99']) {
      const refused = await asker.post<{ errors: string[] }>(
        '/chatroom/notification',
        push(chatNo, saleNo, 'x', { sendTime }),
      );
      expect(refused.status, `sendTime ${sendTime}`).to.equal(400);
      expect(refused.body.errors[0]).to.match(/^sendTime: must /);
    }
  });

  it('answers a broadcast that is posted back with the stored message, without a token', async () => {
    const first = await asker.post<{ id: string }>('/chatroom/notification', push(chatNo, saleNo, 'echo me'));
    const copy = { ...first.body, content: 'altered', senderEmail: author.email, sendTime: '2022-08-01' };
    const echoes = await Promise.all(
      [1, 2, 3].map(() =>
        call('/chatroom/notification', { method: 'POST', json: copy, headers: { 'User-Agent': 'echo' } }),
      ),
    );
    for (const echo of echoes) expect(echo.body).to.deep.equal(first.body);
    const list = await asker.get<{ chatList: unknown[] }>(`/chatroom/${chatNo}`);
    expect(list.body.chatList).to.have.length(1);
    expect((await author.get<unknown[]>('/notification/all')).body).to.have.length(1);
    const elsewhere = await call<{ message: string }>('/chatroom/notification', {
      method: 'POST',
      json: { ...copy, id: '0190-unknown' },
    });
    expect(elsewhere.body.message).to.equal('MESSAGE_NOT_FOUND');
  });

  describe('posted back without its id', () => {
    /** Legacy receivers overwrite the sender's address of the broadcast with their own. */
    const postBack = (
      broadcast: object,
      more: Record<string, unknown>,
      headers: Record<string, string> = { Authorization: author.token },
    ) =>
      call<Record<string, unknown>>('/chatroom/notification', {
        method: 'POST',
        json: { ...broadcast, id: null, ...more },
        headers,
      });

    it('is answered with the stored message, whoever of the two is given as its sender', async () => {
      const sent = push(chatNo, saleNo, 'hello');
      const first = await asker.post<{ sendTime: number }>('/chatroom/notification', sent);
      // A client without a token, of which nothing but the author's rooms were ever listed.
      const client = { 'User-Agent': `receiver of ${chatNo}` };
      await author.get('/chatroom', client);
      const own = { senderEmail: author.email };
      const copies: [string, object, Record<string, unknown>][] = [
        ['its own address', first.body, own],
        ['its own address in capitals', first.body, { senderEmail: author.email.toUpperCase() }],
        ['its own address and number', first.body, { ...own, senderNo: author.no }],
        ['its own address and no number', first.body, { ...own, senderNo: null }],
        ['another sendTime, the sender’s number', first.body, { ...own, sendTime: 1 }],
        ['sendTime in text', first.body, { ...own, sendTime: new Date(first.body.sendTime).toISOString() }],
        ['the sender’s number and address', first.body, {}],
        ['the sender’s number alone', first.body, { senderEmail: '' }],
        ['the body of the push', sent, own],
      ];
      for (const [name, copy, more] of copies) {
        for (const headers of [{ Authorization: author.token }, client]) {
          const answer = await postBack(copy, more, headers);
          expect(answer.body, name).to.deep.equal(first.body);
        }
      }
      // The sender hears its own broadcast, too.
      const bySender = await postBack(first.body, {}, { Authorization: asker.token });
      expect(bySender.body).to.deep.equal(first.body);
      expect(await contents()).to.deep.equal(['hello']);
      expect((await author.get<unknown[]>('/notification/all')).body).to.have.length(1);
      expect((await asker.get<unknown[]>('/notification/all')).body).to.deep.equal([]);
    });

    it('is told from what the receiver writes in the same words', async () => {
      const first = await asker.post<object>('/chatroom/notification', push(chatNo, saleNo, 'ok'));
      const answers = [
        await author.post<{ senderNo: number }>(
          '/chatroom/notification',
          push(chatNo, saleNo, 'ok', { sendTime: Date.now() + 1_000, senderEmail: author.email }),
        ),
        await author.post<{ senderNo: number }>('/chatroom/notification', push(chatNo, saleNo, 'ok')),
        await author.post<{ senderNo: number }>(
          '/chatroom/notification',
          push(chatNo, saleNo, 'ok', { sendTime: 1, senderEmail: author.email, senderNo: author.no }),
        ),
      ];
      expect(answers.map(({ body }) => body.senderNo)).to.deep.equal([author.no, author.no, author.no]);
      const other = await postBack(first.body, {
        content: 'not ok',
        senderEmail: author.email,
        senderNo: null,
      });
      expect(other.body).to.include({ senderNo: author.no, content: 'not ok' });
      expect(await contents()).to.deep.equal(['ok', 'ok', 'ok', 'ok', 'not ok']);
    });

    it('is 404 where it names the other one as its sender, who has sent no such message', async () => {
      const first = await asker.post<object>('/chatroom/notification', push(chatNo, saleNo, 'hello'));
      const altered = { content: 'altered', senderEmail: author.email };
      expect((await postBack(first.body, altered)).body).to.include({
        status: 404,
        message: 'MESSAGE_NOT_FOUND',
      });
      expect(await contents()).to.deep.equal(['hello']);
    });

    it('is 401 from somebody who is not known, whatever address they give', async () => {
      const first = await asker.post<object>('/chatroom/notification', push(chatNo, saleNo, 'hello'));
      const stranger = { 'User-Agent': 'nobody was ever seen here' };
      expect((await postBack(first.body, { senderEmail: author.email }, stranger)).status).to.equal(401);
      const member3 = await member();
      const third = { Authorization: member3.token };
      expect((await postBack(first.body, { senderEmail: member3.email }, third)).status).to.equal(403);
    });
  });

  it('takes an empty address of the sender for none', async () => {
    const sent = await asker.post<{ senderEmail: string }>(
      '/chatroom/notification',
      push(chatNo, saleNo, 'hi', { senderEmail: '' }),
    );
    expect([sent.status, sent.body.senderEmail]).to.deep.equal([200, asker.email]);
  });

  it('knows a sender without a token by the session cookie, else by the same client', async () => {
    const anonymous = (headers: Record<string, string>, more: object = {}) =>
      call<{ senderNo: number }>('/chatroom/notification', {
        method: 'POST',
        json: push(chatNo, saleNo, `from ${JSON.stringify(headers)}`, more),
        headers,
      });
    expect((await anonymous({ 'User-Agent': 'nobody' })).status).to.equal(401);

    const signedIn = await asker.get('/chatroom', { 'User-Agent': 'phone-1' });
    const cookie = signedIn.headers.get('set-cookie') ?? '';
    expect(cookie).to.match(/^session=[\w.-]+; path=\/chatroom; expires=[^;]+ GMT; samesite=lax; httponly$/);
    const byCookie = await anonymous({ 'User-Agent': 'other', Cookie: cookie.split(';')[0] ?? '' });
    expect(byCookie.body.senderNo).to.equal(asker.no);
    const byForeignPage = await anonymous({
      'User-Agent': 'other',
      Origin: 'https://evil.example',
      Cookie: cookie.split(';')[0] ?? '',
    });
    expect(byForeignPage.status, 'a page of another origin has no use of the cookie').to.equal(401);
    const foreign = { 'User-Agent': 'phone-1', Origin: 'https://evil.example' };
    expect((await anonymous(foreign)).status, 'nor of where the member was seen').to.equal(401);
    const ours = { 'User-Agent': 'phone-1', Origin: 'http://localhost:3000' };
    expect((await anonymous(ours)).body.senderNo).to.equal(asker.no);
    const forwarded = { 'User-Agent': 'phone-1', 'X-Forwarded-For': '203.0.113.7' };
    expect((await anonymous(forwarded)).status, 'an address that is anybody’s').to.equal(401);
    await asker.get('/chatroom', { 'User-Agent': 'phone-2', 'X-Forwarded-For': '203.0.113.7' });
    expect((await anonymous({ 'User-Agent': 'phone-2' })).status, 'nobody is known by it').to.equal(401);

    const byClient = await anonymous({ 'User-Agent': 'phone-1' });
    expect(byClient.body.senderNo).to.equal(asker.no);
    await author.get('/chatroom', { 'User-Agent': 'phone-1' });
    const latest = await anonymous({ 'User-Agent': 'phone-1' }, { sendTime: 2 });
    expect(latest.body.senderNo, 'the participant seen last').to.equal(author.no);
    const picked = await anonymous({ 'User-Agent': 'phone-1' }, { sendTime: 3, senderEmail: asker.email });
    expect(picked.body.senderNo).to.equal(asker.no);
    const third = await member();
    const added = await anonymous({ 'User-Agent': 'phone-1' }, { sendTime: 4, senderNo: third.no });
    expect(added.status, 'a payload never adds a sender').to.equal(401);
  });

  it('refuses strangers, foreign sales and unknown rooms', async () => {
    const stranger = await member();
    expect((await stranger.post('/chatroom/notification', push(chatNo, saleNo, 'x'))).status).to.equal(403);
    const sale = await asker.post<{ errors: string[] }>(
      '/chatroom/notification',
      push(chatNo, saleNo + 1, 'x'),
    );
    expect(sale.status).to.equal(400);
    expect(sale.body.errors[0]).to.match(/^saleNo/);
    expect((await asker.post('/chatroom/notification', push(999_999, saleNo, 'x'))).status).to.equal(404);
  });
});

describe('POST /chatroom/{chat_no}', () => {
  const forms: [string, (chatNo: number, email: string) => Parameters<typeof call>][] = [
    [
      'a form under a JSON content type (legacy)',
      (chatNo, email) => [
        `/chatroom/${chatNo}`,
        {
          raw: `email=${encodeURIComponent(email)}`,
          headers: { 'Content-Type': 'application/json;charset=UTF-8' },
        },
      ],
    ],
    ['JSON', (chatNo, email) => [`/chatroom/${chatNo}`, { json: { email } }]],
    [
      'the query (on page close)',
      (chatNo, email) => [`/chatroom/${chatNo}?email=${encodeURIComponent(email)}`, {}],
    ],
  ];

  for (const [name, build] of forms) {
    it(`takes the member out of the room on their own word, sent as ${name}`, async () => {
      const { author, asker, chatNo } = await openRoom();
      const [mine, theirs] = await Promise.all([connect(asker), connect(author)]);
      await theirs.ask('room:join', { chatNo });
      await mine.ask('room:join', { chatNo });
      const [path, request] = build(chatNo, asker.email);
      const headers = { ...request?.headers, 'User-Agent': 'a stranger' };
      const forged = await call(path, { ...request, method: 'POST', headers });
      expect(forged.body).to.deep.equal({ status: 200 });
      expect((await theirs.ask<{ present: number[] }>('room:join', { chatNo })).present).to.include(asker.no);

      const own = await call(path, {
        ...request,
        method: 'POST',
        headers: { ...headers, Authorization: asker.token },
      });
      expect(own.body).to.deep.equal({ status: 200 });
      await theirs.next(
        'presence',
        (e: { memberNo: number; present: boolean }) => e.memberNo === asker.no && !e.present,
      );
      await author.post(
        '/chatroom/notification',
        push(
          chatNo,
          (await author.get<{ saleNo: number }[]>('/chatroom')).body[0]?.saleNo as number,
          'gone?',
        ),
      );
      expect(mine.heard('message')).to.deep.equal([]);
    });
  }

  it('takes an empty e-mail in the body for none, and the one of the query instead', async () => {
    const { author, asker, chatNo } = await openRoom();
    const [mine, theirs] = await Promise.all([connect(asker), connect(author)]);
    await mine.ask('room:join', { chatNo });
    await theirs.ask('room:join', { chatNo });
    const leave = (query: string) =>
      call<{ errors: string[] }>(`/chatroom/${chatNo}${query}`, {
        method: 'POST',
        raw: 'email=',
        headers: { Authorization: asker.token },
      });
    for (const query of ['', '?email=']) {
      const answer = await leave(query);
      expect([answer.status, answer.body.errors]).to.deep.equal([400, ['email: is missing']]);
    }
    expect((await leave(`?email=${encodeURIComponent(asker.email)}`)).body).to.deep.equal({ status: 200 });
    await theirs.next(
      'presence',
      (e: { memberNo: number; present: boolean }) => e.memberNo === asker.no && !e.present,
    );
  });

  it('tells somebody who is not known nothing: no room, no address, and knocks nobody out', async () => {
    const { author, asker, chatNo } = await openRoom();
    const [mine, theirs] = await Promise.all([connect(asker), connect(author)]);
    await mine.ask('room:join', { chatNo });
    await theirs.ask('room:join', { chatNo });
    const emails = [asker.email, author.email, (await member()).email, 'nobody@example.org'];
    await asker.get('/chatroom', { 'User-Agent': 'seen' });
    const cookie = (await asker.get('/chatroom', { 'User-Agent': 'x' })).headers.get('set-cookie') ?? '';
    const callers: Record<string, string>[] = [
      { 'User-Agent': 'never seen before' },
      { 'User-Agent': 'seen', Origin: 'https://evil.example' },
      { 'User-Agent': 'seen', Origin: 'null', Cookie: cookie.split(';')[0] ?? '' },
      { 'User-Agent': 'seen', 'X-Forwarded-For': '203.0.113.7' },
    ];
    for (const headers of callers) {
      for (const no of [chatNo, 99_999_999]) {
        for (const email of emails) {
          const forged = await call(`/chatroom/${no}?email=${email}`, { method: 'POST', headers });
          expect([forged.status, forged.body], `${no} ${email}`).to.deep.equal([200, { status: 200 }]);
        }
      }
    }
    for (const raw of ['', 'email=nobody']) {
      const headers = callers[0] as Record<string, string>;
      expect((await call(`/chatroom/${chatNo}`, { method: 'POST', raw, headers })).status).to.equal(400);
    }
    const { present } = await theirs.ask<{ present: number[] }>('room:join', { chatNo });
    expect(present).to.have.members([asker.no, author.no]);
  });

  it('tells a member who takes no part in a room nothing of who does', async () => {
    const { author, asker, chatNo } = await openRoom();
    const third = await member();
    const leave = (no: number, email: string) =>
      call<{ message?: string }>(`/chatroom/${no}`, {
        method: 'POST',
        json: { email },
        headers: { Authorization: third.token },
      });
    for (const email of [asker.email, author.email, 'nobody@example.org']) {
      expect((await leave(chatNo, email)).body).to.deep.equal({ status: 200 });
    }
    expect((await leave(chatNo, third.email)).body.message).to.equal('CHAT_ROOM_NOT_FOUND');
    expect((await leave(99_999_999, third.email)).body.message).to.equal('CHAT_ROOM_NOT_FOUND');
  });

  it('names what is wrong: no e-mail, no e-mail address, another member, an unknown room, too much', async () => {
    const { asker, chatNo } = await openRoom();
    const send = (path: string, raw: string) => call<{ errors: string[] }>(path, { method: 'POST', raw });
    expect((await send(`/chatroom/${chatNo}`, '')).status).to.equal(400);
    expect((await send(`/chatroom/${chatNo}`, 'email=nobody')).body.errors[0]).to.match(/^email/);
    expect((await send(`/chatroom/${chatNo}`, `email=${(await member()).email}`)).status).to.equal(404);
    expect((await send('/chatroom/99999999', `email=${asker.email}`)).status).to.equal(404);
    expect((await send(`/chatroom/${chatNo}`, `email=${'x'.repeat(20_000)}`)).status).to.equal(413);
  });
});
