import { expect } from 'chai';
import { Article } from '../../domain/community/article.model.js';
import { listErrorCodes } from '../../domain/kernel/errors.js';
import { metrics } from '../../domain/platform/observe/metrics.js';
import { call, expectError, type Member, member, type Reply } from '../support/api.js';
import { type OpenedRoom, openRoom } from '../support/chat.js';
import { DRAFT } from '../support/community.js';
import { counted } from '../support/counted.js';
import { service } from '../support/service.js';
import { connect } from '../support/sockets.js';
import { takeErrors } from '../support/unexpected-errors.js';

/** Codes that other tests reach, with services of their own. */
const reachedElsewhere = ['ORIGIN_NOT_ALLOWED', 'RATE_LIMITED', 'QUOTA_EXCEEDED', 'SERVICE_UNAVAILABLE'];

const NONE = 999_999_999;

describe('error codes', () => {
  let room: OpenedRoom;
  let me: Member;
  let article: number;
  const reached = new Set<string>();

  before(async () => {
    room = await openRoom();
    me = room.asker;
    const { domain } = await service();
    article = await domain.community.createArticle(room.author.actor, DRAFT);
  });

  const twice = async (request: () => Promise<Reply>) => {
    await request();
    return request();
  };
  const overRest: [code: string, request: () => Promise<Reply>][] = [
    ['INVALID_INPUT', () => me.post('/chatroom', {})],
    [
      'MALFORMED_BODY',
      () =>
        call('/chatroom', {
          method: 'POST',
          raw: '{',
          headers: { Authorization: me.token, 'Content-Type': 'application/json' },
        }),
    ],
    ['UNAUTHORIZED', () => call('/chatroom')],
    [
      'TOKEN_EXPIRED',
      async () =>
        call('/chatroom', {
          headers: { Authorization: await (await service()).token('late@example.org', { ttl: '-1s' }) },
        }),
    ],
    ['FORBIDDEN', async () => (await member()).get(`/chatroom/${room.chatNo}`)],
    ['FORBIDDEN', () => me.delete(`/community/article/${article}`)],
    ['NOT_FOUND', () => me.get('/nowhere')],
    ['ARTICLE_NOT_FOUND', () => me.get(`/community/article/${NONE}`)],
    ['COMMENT_NOT_FOUND', () => me.delete(`/community/comment/${NONE}`)],
    ['HEART_NOT_FOUND', () => me.delete(`/community/heart/article/${article}`)],
    ['BOOKMARK_NOT_FOUND', () => me.delete(`/community/bookmark/${article}`)],
    ['SALE_NOT_FOUND', () => me.post('/chatroom', { saleNo: NONE, createMember: me.no })],
    ['CHAT_ROOM_NOT_FOUND', () => me.get(`/chatroom/${NONE}`)],
    ['CHAT_ROOM_NOT_FOUND', () => me.post(`/chatroom/${NONE}?email=a%40b.org`)],
    ['MESSAGE_NOT_FOUND', () => me.post('/chatroom/notification', { id: 'unknown', chatNo: room.chatNo })],
    ['MESSAGE_NOT_FOUND', () => me.get(`/chatroom/${room.chatNo}?before=unknown`)],
    ['NOTIFICATION_NOT_FOUND', () => me.patch(`/notification/checked/${NONE}`)],
    ['NOTIFICATION_NOT_FOUND', () => me.post('/notification', { idList: [NONE] })],
    ['METHOD_NOT_ALLOWED', () => call('/chatroom', { method: 'DELETE' })],
    ['ALREADY_HEARTED', () => twice(() => me.post('/community/heart', { target: 'article', id: article }))],
    ['ALREADY_BOOKMARKED', () => twice(() => me.post(`/community/bookmark/${article}`))],
    [
      'COMMENTS_FULL',
      async () => {
        const { config } = await service();
        await Article.updateOne({ _id: article }, { $set: { comments: config.ARTICLE_COMMENTS } });
        return me.post('/community/comment', { boardId: article, context: 'One more' });
      },
    ],
    ['PAYLOAD_TOO_LARGE', () => me.post('/community/article', { title: 'x'.repeat(2_000_000) })],
    [
      'UNSUPPORTED_MEDIA_TYPE',
      () => call('/chatroom', { method: 'POST', raw: 'x', headers: { Authorization: me.token } }),
    ],
  ];

  it('arrive over REST with their status, all in one form', async () => {
    const statuses = new Map(listErrorCodes().map(({ code, status }): [string, number] => [code, status]));
    for (const [code, request] of overRest) {
      const { body } = await expectError(request(), statuses.get(code) as number, code);
      for (const text of (body as { errors: string[] }).errors)
        expect(text).to.be.a('string').that.is.not.empty;
      reached.add(code);
    }
  });

  it('arrive over sockets in the same form', async () => {
    const client = await connect(me);
    const stranger = await connect(await member());
    const { chatNo } = room;
    const message = { contentType: 'text', content: 'x' };
    const asked: [code: string, answer: Promise<object>][] = [
      ['INVALID_INPUT', client.ask('room:join', { chatNo: 'x' })],
      ['FORBIDDEN', stranger.ask('room:join', { chatNo })],
      ['FORBIDDEN', stranger.ask('room:leave', { chatNo })],
      ['FORBIDDEN', stranger.ask('message:send', { chatNo, ...message })],
      ['FORBIDDEN', stranger.ask('message:read', { chatNo, seq: 1 })],
      ['CHAT_ROOM_NOT_FOUND', client.ask('room:join', { chatNo: NONE })],
      ['CHAT_ROOM_NOT_FOUND', client.ask('room:leave', { chatNo: NONE })],
      ['CHAT_ROOM_NOT_FOUND', client.ask('message:send', { chatNo: NONE, ...message })],
      ['CHAT_ROOM_NOT_FOUND', client.ask('message:read', { chatNo: NONE, seq: 1 })],
      ['UNAUTHORIZED', client.ask('auth:refresh', { token: 'garbage' })],
      ['UNKNOWN_EVENT', client.ask('room:dance', {})],
    ];
    for (const [code, answer] of asked) {
      const body = await answer;
      expect(body, code).to.have.all.keys('status', 'message', 'errors');
      expect(body).to.include({ message: code });
      reached.add(code);
    }
  });

  it('hide internals of an unexpected error behind 500, over REST and sockets, and log it once each', async () => {
    const { domain } = await service();
    const { chat } = domain;
    const { listRooms, sendMessage } = chat;
    const secret = new Error('password=hunter2 at /srv/secret.ts');
    const before = await counted(metrics.unexpectedErrors);
    chat.sendMessage = chat.listRooms = async () => {
      throw secret;
    };
    // Routes and events hold the same objects.
    try {
      const answer = await me.get('/chatroom');
      expect(await counted(metrics.unexpectedErrors)).to.equal(before + 1);
      const client = await connect(me);
      const acked = await client.send(room.chatNo, 'x');
      for (const body of [answer.body, acked]) {
        expect(body).to.deep.equal({
          status: 500,
          message: 'INTERNAL_ERROR',
          errors: ['something went wrong on our side'],
        });
      }
      const logged = takeErrors();
      expect(logged).to.have.length(2);
      for (const line of logged) expect(line).to.include('hunter2');
      reached.add('INTERNAL_ERROR');
    } finally {
      Object.assign(chat, { listRooms, sendMessage });
    }
  });

  it('are all reachable: the catalogue holds no other', () => {
    const codes = listErrorCodes().map(({ code }) => code as string);
    expect(codes.filter((code) => !reached.has(code))).to.have.members(reachedElsewhere);
  });
});
