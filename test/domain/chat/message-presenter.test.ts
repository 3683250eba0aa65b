import { expect } from 'chai';
import { presentMessage, presentPayload } from '../../../domain/chat/message.presenter.js';
import type { RoomState } from '../../../domain/chat/room-states.js';
import { messageRecords } from '../../support/chat.js';

const CREATOR = 1;
const JOINER = 2;

/** @param read how far the creator and the joiner have read, as a record or a room says */
const readTo = ([creator, joiner]: readonly [number, number]) => ({
  creator: { seq: creator, others: 0 },
  joiner: { seq: joiner, others: 0 },
});

describe('a message as it is shown', () => {
  for (const [senderNo, ofRecord, ofRoom, readCount] of [
    [JOINER, [0, 0], [0, 5], 1],
    [JOINER, [1, 0], [0, 0], 0],
    [JOINER, [0, 0], [1, 0], 0],
    [CREATOR, [5, 0], [5, 0], 1],
    [CREATOR, [0, 1], [0, 0], 0],
    [CREATOR, [0, 0], [0, 2], 0],
  ] as const) {
    it(`is ${readCount === 0 ? 'read' : 'unread'} where ${ofRecord} is read by its record, ${ofRoom} by the room`, () => {
      const [record] = messageRecords(7, senderNo, 1, () => ({ read: readTo(ofRecord) }));
      if (!record) throw new Error('no record');
      const room = { chatNo: 7, saleNo: 3, creator: CREATOR, joiner: JOINER, read: readTo(ofRoom) };
      const state = room as unknown as RoomState;
      const id = record._id;
      const common = { id, senderNo, senderName: '', contentType: 'text', content: '0', readCount };
      const at = record.sentAt.getTime();
      // Its sender is gone: no name, and every field is there.
      expect(presentMessage(record, state, undefined, JOINER)).to.deep.equal({
        ...common,
        chatRoomNo: 7,
        sendDate: at,
        mine: senderNo === JOINER,
      });
      const ofPayload = { chatNo: 7, saleNo: 3, sendTime: at, senderEmail: '', seq: 1 };
      expect(presentPayload(record, state, undefined)).to.deep.equal({ ...common, ...ofPayload });
    });
  }
});
