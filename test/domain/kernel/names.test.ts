import { expect } from 'chai';
import { redisChannels, redisKeys } from '../../../domain/kernel/redis-keys.js';
import { chatNoOf, chatRoom, memberNoOf, memberRoom } from '../../../domain/kernel/socket-rooms.js';

describe('names', () => {
  it('of socket rooms identify their chat room or member', () => {
    expect([chatNoOf(chatRoom(17)), memberNoOf(memberRoom(17))]).to.deep.equal([17, 17]);
    for (const name of [memberRoom(17), '17', 'Tq5lYQbrt3', '']) expect(chatNoOf(name)).to.equal(undefined);
    for (const name of [chatRoom(17), '17', 'Tq5lYQbrt3', '']) expect(memberNoOf(name)).to.equal(undefined);
  });

  it('in Redis are prefixed and distinct', () => {
    const all = [
      ...[1, 2].flatMap((no) => [redisKeys.presence(no), redisChannels.deliveries(no)]),
      ...['a', 'b'].flatMap((id) => [
        redisKeys.alive(id),
        ...[1, 2].map((no) => redisKeys.recentClients(id, no)),
        redisKeys.rateLimit(id),
      ]),
      ...['a', 'b'].map((id) => redisChannels.echo(id)),
      ...[redisChannels.presenceCleared, redisChannels.presenceLost, redisChannels.sockets],
      ...redisKeys.presenceMarks(),
    ];
    for (const name of all) expect(name).to.match(/^adoption:/);
    expect(new Set(all).size).to.equal(all.length);
    expect(redisChannels.deliveries(7).startsWith(redisChannels.deliveries(''))).to.equal(true);
  });

  it("of presence put a group's rooms on one slot of a Redis Cluster, and spread the groups", () => {
    const tag = (chatNo: number) => /\{(.+)\}/.exec(redisKeys.presence(chatNo))?.[1];
    const rooms = Array.from({ length: 2_000 }, (_, i) => i + 1);
    for (const chatNo of rooms) expect(tag(chatNo)).to.equal(String(redisKeys.roomGroup(chatNo)));
    expect(new Set(rooms.map(tag)).size).to.equal(256);
    expect(new Set(rooms.map(redisKeys.presence)).size).to.equal(rooms.length);
  });
});
