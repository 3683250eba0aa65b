import { z } from 'zod';
import { id, pathId } from '../../domain/kernel/input.js';
import { notificationView } from '../../domain/kernel/live.js';
import { formatEvent, HEARTBEAT, RETRY_MS } from '../sse/event-format.js';

/** Most ids in one deletion. */
export const MAX_IDS = 1_000;

export const notificationParams = z.object({
  notificationId: pathId.meta({ description: 'notification identifier', example: 88 }),
});

export const deleteBody = z.object({
  idList: z
    .array(id, 'must be a list of numbers')
    .max(MAX_IDS, `must have at most ${MAX_IDS} numbers`)
    .meta({ description: 'notification identifiers', example: [88, 87] }),
});

export const notificationList = z
  .array(notificationView)
  .meta({ description: 'notifications, newest first' });

export const streamHeaders = z.object({
  'Last-Event-ID': z.string().optional().meta({
    description:
      'id of the last event received; `{memberNo}_{epoch ms}` replays from that time, anything else replays nothing. The query parameter `lastEventId` works too: of two ids the one further on counts',
    example: '5_41',
  }),
});

/** Data of the first event. */
export const streamCreated = z
  .string()
  .regex(/^EventStream Created\. \[userId=\d+\]$/)
  .meta({ example: 'EventStream Created. [userId=5]' });

const record = {
  id: 88,
  type: 'comment',
  content: 'Congratulations!',
  url: '/board/1',
  publishedAt: [2022, 8, 1, 12, 34, 56],
  name: 'Minji',
  checked: false,
  del: false,
};

export const eventStream = z.string().meta({
  description: 'The stream, which stays open: events in the format of the HTML Standard, section 9.2.',
  example: `retry: ${RETRY_MS}\n${formatEvent('5_41', 'EventStream Created. [userId=5]')}${formatEvent('5_42', JSON.stringify(record))}${HEARTBEAT}`,
});
