import { formatEvent, HEARTBEAT, RETRY_MS } from '../sse/event-format.js';
import { described, listOf, ref, text } from './json-schema.js';
import { done, type OperationTable } from './operation.js';

/** Interface, "Adoption listing". */
export const adoptionOperations: OperationTable = {
  'GET /adopt/render': {
    id: 'listRenderRecords',
    tag: 'Adoption listing',
    summary: 'List render records',
    description:
      'Returns the adoption posts as a map renders them, newest first, at most 50,000. No token is needed.',
    parameters: {
      _csrf: { description: 'a CSRF token; accepted and ignored', schema: { type: 'string' } },
    },
    answer: {
      description: 'The posts.',
      schema: described(listOf(ref('RenderRecord'), ''), 'posts, newest first'),
    },
    errors: {},
  },
};

const exampleRecord = {
  id: 88,
  type: 'comment',
  content: 'Congratulations!',
  url: '/board/1',
  publishedAt: [2022, 8, 1, 12, 34, 56],
  name: 'Minji',
  checked: false,
  del: false,
};

/** Interface, "Notifications", in its order. */
export const notificationOperations = {
  'GET /notification/connect': {
    id: 'openEventStream',
    tag: 'Notifications',
    summary: 'Open event stream',
    description:
      'Opens the stream of the calling member’s notifications. Every event is named `sse`. The first one says `EventStream Created. [userId=N]`; each later one holds a notification record as JSON. Event ids are `{memberNo}_{n}`, n rising: send the last one you have as `Last-Event-ID` and everything missed comes first, in order. A comment line comes every 20 s. The stream ends when its token expires, when its reader lags more than 1 MiB or takes nothing for 30 s, or when the member opens an eleventh one.',
    headers: {
      'Last-Event-ID': {
        description:
          'id of the last event received; `{memberNo}_{epoch ms}` replays from that time, anything else replays nothing. The query parameter `lastEventId` works too: of two ids the one further on counts',
        example: '5_41',
        schema: { type: 'string' },
      },
    },
    answer: {
      description: 'The stream; it stays open.',
      schema: text('events in the format of the HTML Standard, section 9.2'),
      contentType: 'text/event-stream',
      headers: {
        'X-Accel-Buffering': 'no',
        Connection: 'keep-alive',
        'Cache-Control': 'no-cache, no-transform',
      },
      example: `retry: ${RETRY_MS}\n${formatEvent('5_41', 'EventStream Created. [userId=5]')}${formatEvent('5_42', JSON.stringify(exampleRecord))}${HEARTBEAT}`,
    },
    errors: {},
  },
  'GET /notification/all': {
    id: 'listNotifications',
    tag: 'Notifications',
    summary: 'List all notifications',
    description:
      'Returns the calling member’s notifications, newest first: those not deleted, and of the chat ones only the latest per room, at most 1,000.',
    answer: {
      description: 'The notifications.',
      schema: described(listOf(ref('Notification'), ''), 'notifications, newest first'),
    },
    errors: {},
  },
  'POST /notification': {
    id: 'deleteNotifications',
    tag: 'Notifications',
    summary: 'Delete notifications',
    description: 'Deletes several notifications, or none where one of them is not the calling member’s.',
    body: {
      fields: { idList: 'notification identifiers' },
      example: { idList: [88, 87] },
    },
    answer: done,
    errors: { NOTIFICATION_NOT_FOUND: 'idList: notification 88 does not exist' },
  },
  'PATCH /notification/checked/{notification_id}': {
    id: 'markNotificationRead',
    tag: 'Notifications',
    summary: 'Mark notification read',
    description: 'Sets `checked`; of a chat, the older ones of its room with it.',
    parameters: { notification_id: { description: 'notification identifier', example: 88 } },
    answer: done,
    errors: { NOTIFICATION_NOT_FOUND: 'notification 88 does not exist' },
  },
} satisfies OperationTable;
