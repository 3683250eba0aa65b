import type { MessagePayload, NotificationView, RoomView } from '../../../domain/kernel/live.js';
import type { RoomState, SeenMessage, SeenNotification } from '../history.js';

/** What clients receive, in the form of the history. */

export const seenMessage = ({ id, seq, senderNo, content, readCount }: MessagePayload): SeenMessage => ({
  ...{ id, seq, sender: senderNo, content, readCount },
});

export const seenRoom = ({ chatNo, unReadCount, latestMessage }: RoomView): RoomState => ({
  room: chatNo,
  unread: unReadCount,
  ...(latestMessage ? { latest: latestMessage.context } : {}),
});

export const seenNotification = (view: NotificationView): SeenNotification => {
  const { id, type, content, url, checked } = view;
  return { id, type, content, url, checked };
};
