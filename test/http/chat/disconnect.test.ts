import { expect } from 'chai';
import { call, member } from '../../support/api.js';
import { openRoom, pushTo } from '../../support/chat.js';
import { connect, nextPresence } from '../../support/sockets.js';

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
    it(`21: removes the member from the room at their own request, sent as ${name}`, async () => {
      const room = await openRoom();
      const { author, asker, chatNo } = room;
      const [mine, theirs] = await Promise.all([connect(asker), connect(author)]);
      await theirs.join(chatNo);
      await mine.join(chatNo);
      const [path, request] = build(chatNo, asker.email);
      const headers = { ...request?.headers, 'User-Agent': 'a stranger' };
      const forged = await call(path, { ...request, method: 'POST', headers });
      expect(forged.body).to.deep.equal({ status: 200 });
      expect((await theirs.join<{ present: number[] }>(chatNo)).present).to.include(asker.no);

      const own = await call(path, {
        ...request,
        method: 'POST',
        headers: { ...headers, Authorization: asker.token },
      });
      expect(own.body).to.deep.equal({ status: 200 });
      await nextPresence(theirs, false, asker.no);
      await pushTo(room, author, 'gone?');
      expect(mine.heard('message')).to.deep.equal([]);
    });
  }

  it('treats an empty or null e-mail in the body as absent, and uses the one in the query', async () => {
    const { author, asker, chatNo } = await openRoom();
    const [mine, theirs] = await Promise.all([connect(asker), connect(author)]);
    await mine.join(chatNo);
    await theirs.join(chatNo);
    const leave = (query: string, raw: string) =>
      call<{ errors: string[] }>(`/chatroom/${chatNo}${query}`, {
        method: 'POST',
        raw,
        headers: { Authorization: asker.token },
      });
    for (const none of ['email=', '{"email":""}', '{"email":null}']) {
      for (const query of ['', '?email=']) {
        const answer = await leave(query, none);
        expect([answer.status, answer.body.errors]).to.deep.equal([400, ['email: is missing']]);
      }
      const answer = await leave(`?email=${encodeURIComponent(asker.email)}`, none);
      expect(answer.body).to.deep.equal({ status: 200 });
    }
    await nextPresence(theirs, false, asker.no);
  });

  it('21: reveals nothing to an unknown caller or a foreign page, and removes nobody', async () => {
    const { author, asker, chatNo } = await openRoom();
    const [mine, theirs] = await Promise.all([connect(asker), connect(author)]);
    await mine.join(chatNo);
    await theirs.join(chatNo);
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
    const { present } = await theirs.join<{ present: number[] }>(chatNo);
    expect(present).to.have.members([asker.no, author.no]);
  });

  it('does not reveal a room’s participants to other members', async () => {
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

  it('21: names the fault: no e-mail, a malformed one, another member, an unknown room, a large body', async () => {
    const { asker, chatNo } = await openRoom();
    const headers = { Authorization: asker.token };
    const send = (path: string, raw: string) =>
      call<{ errors: string[] }>(path, { method: 'POST', raw, headers });
    expect((await send(`/chatroom/${chatNo}`, '')).status).to.equal(400);
    expect((await send(`/chatroom/${chatNo}`, 'email=nobody')).body.errors[0]).to.match(/^email/);
    expect((await send(`/chatroom/${chatNo}`, `email=${(await member()).email}`)).status).to.equal(404);
    expect((await send('/chatroom/99999999', `email=${asker.email}`)).status).to.equal(404);
    expect((await send(`/chatroom/${chatNo}`, `email=${'x'.repeat(20_000)}`)).status).to.equal(413);
  });
});
