import { expect } from 'chai';
import { createAutoRead } from '../../../domain/chat/auto-read.js';
import type { RoomStates } from '../../../domain/chat/room-states.js';
import type { MessagePayload } from '../../../domain/kernel/live.js';
import { createLogger } from '../../../domain/platform/observe/logger.js';
import { nextTurn } from '../../support/eventually.js';

const CREATOR = 1;
const JOINER = 2;
/** A room whose state cannot be read. */
const BROKEN = 9;

/** @param here rooms and the members that have them open in this process */
function build(here: [chatNo: number, memberNo: number][]) {
  const marked: [chatNo: number, memberNo: number, seq: number][] = [];
  const get = async (chatNo: number) => {
    if (chatNo === BROKEN) throw new Error('the database is away');
    return { chatNo, creator: CREATOR, joiner: JOINER };
  };
  const autoRead = createAutoRead(
    { get } as unknown as RoomStates,
    { isHere: (...one: number[]) => here.some((other) => `${other}` === `${one}`) } as never,
    async ({ chatNo }, memberNo, seq) => void marked.push([chatNo, memberNo, seq]),
    createLogger('silent', 'test'),
  );
  const add = (chatNo: number, senderNo: number, seq: number, readCount = 1) =>
    autoRead({ chatNo, senderNo, seq, readCount } as MessagePayload);
  return { marked, add };
}

describe('messages delivered here whose writer took the recipient for absent', () => {
  it('are marked read, once per sender up to the newest', async () => {
    const { marked, add } = build([
      [7, CREATOR],
      [7, JOINER],
      [8, CREATOR],
    ]);
    for (const seq of [1, 2]) add(7, JOINER, seq);
    add(7, CREATOR, 3);
    add(8, JOINER, 1);
    await nextTurn(5);
    expect(marked).to.deep.equal([
      [7, CREATOR, 2],
      [7, JOINER, 3],
      [8, CREATOR, 1],
    ]);
    add(7, JOINER, 4);
    await nextTurn(5);
    expect(marked.slice(3)).to.deep.equal([[7, CREATOR, 4]]);
  });

  it('stay unread if the recipient is not here, and are ignored if already read', async () => {
    const { marked, add } = build([
      [7, JOINER],
      [8, CREATOR],
    ]);
    add(7, JOINER, 1);
    add(8, JOINER, 1, 0);
    await nextTurn(5);
    expect(marked).to.deep.equal([]);
  });

  it('are marked read although another room cannot be read', async () => {
    const { marked, add } = build([[7, CREATOR]]);
    add(BROKEN, JOINER, 1);
    add(7, JOINER, 1);
    await nextTurn(5);
    expect(marked).to.deep.equal([[7, CREATOR, 1]]);
  });
});
