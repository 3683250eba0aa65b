import type { PlantedFault } from './planted-fault.js';

/** Notifications: on streams, on sockets, and in the list. */
export const ofNotifications: Record<string, PlantedFault> = {
  'notify-twice': {
    does: 'notifies of each comment twice',
    file: 'domain/notifications/notify-on-events.js',
    find: 'if (recipientNo === authorNo)\n            return;',
    replace: `if (recipientNo === authorNo)
            return;
        await notify({
            memberNo: recipientNo,
            type: kind,
            content: context,
            url: \`/board/\${articleId}\`,
            originNo: authorNo,
            cause: \`again:\${commentId}\`,
        });`,
    rule: 'notified-once',
  },
  'skip-stream-event': {
    does: 'leaves each tenth notification out of streams',
    file: 'http/sse/stream.js',
    find: 'this.#last = n;\n',
    replace: 'this.#last = n;\n        if (n % 10 === 0) return;\n',
    rule: 'stream-without-gap',
  },
  'replay-last': {
    does: 'sends the last notification that a stream has had again when it is opened again',
    file: 'domain/notifications/replay.js',
    find: '{ memberNo, n: { $gt: cursor } }',
    replace: '{ memberNo, n: { $gte: cursor } }',
    rule: 'stream-without-gap',
  },
  'list-deleted': {
    does: 'lists deleted notifications',
    file: 'domain/notifications/notification.model.js',
    find: 'deleted: false, ',
    replace: '',
    rule: 'notification-list-is-fresh',
  },
};
