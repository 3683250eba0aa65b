import type { Person } from '../kernel/actor.js';
import { shownImage } from '../kernel/image-address.js';
import type { MessagePayload } from '../kernel/live.js';
import type { MessageRecord } from './message.model.js';
import { other } from './room.model.js';
import type { RoomState } from './room-states.js';

/** An element of the documented message list. */
export interface MessageView {
  id: string;
  chatRoomNo: number;
  senderNo: number;
  senderName: string;
  contentType: string;
  content: string;
  /** Epoch ms. */
  sendDate: number;
  readCount: number;
  mine: boolean;
}

/** Participants who have not read the message: 1 or 0, since its sender has. (legacy) */
function readCount(record: MessageRecord, state: RoomState): number {
  const sender = record.senderNo === state.creator ? 'creator' : 'joiner';
  const position = Math.max(state.read[other(sender)].seq, record.read[other(sender)].seq);
  return position >= record.seq ? 0 : 1;
}

const contentOf = ({ contentType, content }: MessageRecord): string =>
  contentType === 'image' || contentType === 'picture' ? shownImage(content) : content;

/** @param sender undefined if the member no longer exists */
export function presentMessage(
  record: MessageRecord,
  state: RoomState,
  sender: Person | undefined,
  readerNo: number,
): MessageView {
  return {
    id: record._id,
    chatRoomNo: record.chatNo,
    senderNo: record.senderNo,
    senderName: sender?.nickname ?? '',
    contentType: record.contentType,
    content: contentOf(record),
    sendDate: record.sentAt.getTime(),
    readCount: readCount(record, state),
    mine: record.senderNo === readerNo,
  };
}

/** The documented chat notification payload, every field filled, and the message's number in the room. */
export function presentPayload(
  record: MessageRecord,
  state: RoomState,
  sender: Person | undefined,
): MessagePayload {
  return {
    id: record._id,
    chatNo: record.chatNo,
    contentType: record.contentType,
    content: contentOf(record),
    senderName: sender?.nickname ?? '',
    senderNo: record.senderNo,
    saleNo: state.saleNo,
    sendTime: record.sentAt.getTime(),
    readCount: readCount(record, state),
    senderEmail: sender?.email ?? '',
    seq: record.seq,
  };
}
