import { expect } from 'chai';
import { RejectedMessage } from '../../domain/platform/redis/sealed-messages.js';
import { readPush } from '../../gateway/pushes.js';
import { message, notification, presence, read, typing, view } from './examples.js';

const mark = { seq: 1, read: 0 };

describe('what processes push to each other', () => {
  const accepted: [room: string, data: unknown[]][] = [
    ['room:7', ['message', message]],
    ['room:7', ['message:read', read, 0]],
    ['room:7', ['typing', typing]],
    ['room:7', ['presence', presence, 9]],
    ['member:3', ['room', view, mark]],
    ['member:5', ['room', { ...view, latestMessage: { context: 'Hello', sendAt: 1 } }, mark]],
    ['member:3', ['notification', notification]],
  ];
  for (const [room, data] of accepted) {
    it(`is read as it was published: ${data[0]} to ${room}`, () => {
      expect(readPush(room, data)).to.deep.equal(data);
    });
  }

  const refused: [room: string, data: unknown][] = [
    ['room:7', undefined],
    ['room:7', null],
    ['room:7', 'message'],
    ['room:7', []],
    ['room:7', [null]],
    ['room:7', ['__proto__', message]],
    ['room:7', ['toString', message]],
    ['room:7', ['drain', { retryAfterMs: 1 }]],
    ['room:7', ['closing', { code: 'TOO_MANY', reconnect: false, text: '' }]],
    ['room:7', ['auth:expiring', { expiresAt: 1 }]],
    ['room:7', ['message']],
    ['room:7', ['message', null]],
    ['room:7', ['message', message, 1]],
    ['room:7', ['message', { ...message, id: 1 }]],
    ['room:7', ['message', { ...message, chatNo: '7' }]],
    ['room:7', ['message', { ...message, seq: 1.5 }]],
    ['room:7', ['message', { ...message, seq: 0 }]],
    ['room:7', ['message', { ...message, content: undefined }]],
    ['room:7', ['message:read', null, 5]],
    ['room:7', ['message:read', read]],
    ['room:7', ['message:read', read, -1]],
    ['room:7', ['message:read', { ...read, memberNo: null }, 5]],
    ['room:7', ['message:read', { ...read, seq: '1' }, 5]],
    ['room:7', ['presence', presence]],
    ['room:7', ['presence', presence, 2 ** 53]],
    ['room:7', ['presence', { ...presence, present: 1 }, 9]],
    ['room:7', ['presence', { ...presence, memberNo: '3' }, 9]],
    ['room:7', ['typing', null]],
    ['room:7', ['typing', { ...typing, memberNo: 0 }]],
    ['room:7', ['typing', { ...typing, typing: 'yes' }]],
    ['member:3', ['room', null, mark]],
    ['member:3', ['room', view]],
    ['member:3', ['room', view, { seq: 1 }]],
    ['member:3', ['room', view, { read: 0 }]],
    ['member:3', ['room', { ...view, unReadCount: '1' }, mark]],
    ['member:3', ['notification', null]],
    ['member:3', ['notification', { ...notification, url: 7 }]],
    ['member:3', ['notification', { ...notification, id: -4 }]],
  ];
  for (const [room, data] of refused) {
    it(`has no other form: ${JSON.stringify(data)?.slice(0, 100)} to ${room}`, () => {
      expect(() => readPush(room, data)).to.throw();
    });
  }

  const misdirected: [room: string, data: unknown[]][] = [
    ['room:8', ['message', message]],
    ['member:7', ['message', message]],
    ['room:8', ['message:read', read, 5]],
    ['room:8', ['typing', typing]],
    ['room:8', ['presence', presence, 9]],
    ['member:4', ['room', view, mark]],
    ['room:7', ['room', view, mark]],
    ['room:7', ['notification', notification]],
  ];
  for (const [room, data] of misdirected) {
    it(`goes to no other room: ${data[0]} to ${room}`, () => {
      expect(() => readPush(room, data)).to.throw(RejectedMessage, 'another room');
    });
  }

  it('carries no further fields', () => {
    expect(readPush('room:7', ['message', { ...message, note: 'x' }])).to.deep.equal(['message', message]);
  });
});
