import type { MessagePayload, NotificationView, RoomView } from '../../domain/kernel/live.js';

/** One of each event that processes push to each other: in room 7, of members 3 and 5. */
export const message: MessagePayload = {
  ...{ id: 'm1', chatNo: 7, contentType: 'text', content: 'Hello', senderName: 'Minji', senderNo: 3 },
  ...{ saleNo: 12, sendTime: 1_659_327_876_000, readCount: 1, senderEmail: 'minji@example.org', seq: 1 },
};
export const read = { chatNo: 7, memberNo: 3, seq: 1 };
export const presence = { chatNo: 7, memberNo: 3, present: true };
export const typing = { chatNo: 7, memberNo: 3, typing: true };
export const view: RoomView = {
  ...{ chatNo: 7, createMember: 3, joinMember: 5, saleNo: 12, saleTitle: 'Bori', regDate: 1_659_327_876_000 },
  ...{ participant: { username: 'Minji', profile: '' }, unReadCount: 0 },
};
export const notification: NotificationView = {
  ...{ id: 4, type: 'chat', content: 'Hello', url: '/chat/7', publishedAt: [2022, 8, 1, 12, 34, 56] },
  ...{ name: 'Minji', checked: false, del: false },
};
