import { expect } from 'chai';
import { listErrorCodes } from '../../domain/kernel/errors.js';
import { metrics } from '../../domain/platform/metrics.js';
import { call, type Member, member, type Reply } from '../support/api.js';
import { type OpenedRoom, openRoom } from '../support/chat.js';
import { service } from '../support/service.js';
import { connect } from '../support/sockets.js';
import { takeErrors } from '../support/unexpected-errors.js';

/** Codes that other tests reach, with services of their own. */
const reachedElsewhere = ['ORIGIN_NOT_ALLOWED', 'RATE_LIMITED', 'SERVICE_UNAVAILABLE'];

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
    const { actor } = await domain.members.authenticate(room.author.token);
    article = await domain.community.createArticle(actor, {
      categoryId: 1,
      title: 'A title',
      context: 'A text',
      imageList: [],
      thumbnail: '',
    });
  });

  const hearted = { target: 'article' };
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
    ['CHAT_ROOM_NOT_FOUND', () => call(`/chatroom/${NONE}?email=a%40b.org`, { method: 'POST' })],
    ['MESSAGE_NOT_FOUND', () => me.post('/chatroom/notification', { id: 'unknown', chatNo: room.chatNo })],
    ['MESSAGE_NOT_FOUND', () => me.get(`/chatroom/${room.chatNo}?before=unknown`)],
    ['NOTIFICATION_NOT_FOUND', () => me.patch(`/notification/checked/${NONE}`)],
    ['NOTIFICATION_NOT_FOUND', () => me.post('/notification', { idList: [NONE] })],
    ['METHOD_NOT_ALLOWED', () => call('/chatroom', { method: 'DELETE' })],
    [
      'ALREADY_HEARTED',
      async () => {
        await me.post('/community/heart', { ...hearted, id: article });
        return me.post('/community/heart', { ...hearted, id: article });
      },
    ],
    [
      'ALREADY_BOOKMARKED',
      async () => {
        await me.post(`/community/bookmark/${article}`);
        return me.post(`/community/bookmark/${article}`);
      },
    ],
    ['PAYLOAD_TOO_LARGE', () => me.post('/community/article', { title: 'x'.repeat(2_000_000) })],
    [
      'UNSUPPORTED_MEDIA_TYPE',
      () => call('/chatroom', { method: 'POST', raw: 'x', headers: { Authorization: me.token } }),
    ],
  ];

  it('come over REST with their status, in one form', async () => {
    const statuses = new Map(listErrorCodes().map(({ code, status }): [string, number] => [code, status]));
    for (const [code, request] of overRest) {
      const { status, body, headers } = await request();
      expect(body, code).to.have.all.keys('status', 'message', 'errors');
      expect(body, code).to.include({ message: code, status });
      expect(status, code).to.equal(statuses.get(code));
      expect(headers.get('content-type')).to.equal('application/json;charset=UTF-8');
      const { errors } = body as { errors: string[] };
      expect(errors, code).to.be.an('array').that.is.not.empty;
      for (const text of errors) expect(text).to.be.a('string').that.is.not.empty;
      reached.add(code);
    }
  });

  it('come over sockets as the same body', async () => {
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

  it('for an unexpected error is 500 without internals, over REST and sockets, logged once each', async () => {
    const { domain } = await service();
    const { chat } = domain;
    const { listRooms, sendMessage } = chat;
    const secret = new Error('password=hunter2 at /srv/secret.ts');
    const counted = async () => (await metrics.unexpectedErrors.get()).values[0]?.value ?? 0;
    const before = await counted();
    chat.sendMessage = chat.listRooms = async () => {
      throw secret;
    };
    // Routes and events hold the same objects.
    try {
      const answer = await me.get('/chatroom');
      expect(await counted()).to.equal(before + 1);
      const client = await connect(me);
      const acked = await client.ask('message:send', {
        chatNo: room.chatNo,
        contentType: 'text',
        content: 'x',
      });
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
