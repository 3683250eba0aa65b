import type { Rule } from '../rule.js';
import { acked } from './acked.js';
import { renderList } from './adoption.js';
import { wholeAnswers } from './answers.js';
import { articleLists } from './article-lists.js';
import { articles } from './articles.js';
import { closedRooms } from './closed-rooms.js';
import { bookmarks, comments, counters, hearts } from './community.js';
import { refusals } from './intrusions.js';
import { ackOrder, forged, numbers, once, order } from './messages.js';
import { notificationList, sameNotification, socketNotifications } from './notification-lists.js';
import { notifiedOnce, streamNumbers } from './notifications.js';
import { openedRooms } from './opened-rooms.js';
import { orders } from './orders.js';
import { presence } from './presence.js';
import { readCounts } from './read-counts.js';
import { readMarks } from './reads.js';
import { reasons } from './reasons.js';
import { repairs } from './repairs.js';
import { latest, roomEvents } from './rooms.js';
import { times } from './times.js';
import { toldRooms } from './told-rooms.js';
import { trending } from './trending.js';
import { typing } from './typing.js';
import { unread } from './unread.js';
import { viewComplete, viewOrder } from './views.js';

/** All rules, as docs/consistency.md lists them. */
export const rules: readonly Rule[] = [
  acked,
  numbers,
  order,
  once,
  forged,
  ackOrder,
  viewOrder,
  viewComplete,
  unread,
  latest,
  roomEvents,
  toldRooms,
  readMarks,
  readCounts,
  presence,
  typing,
  closedRooms,
  refusals,
  reasons,
  repairs,
  notifiedOnce,
  streamNumbers,
  sameNotification,
  notificationList,
  socketNotifications,
  comments,
  counters,
  hearts,
  bookmarks,
  articles,
  articleLists,
  trending,
  openedRooms,
  renderList,
  wholeAnswers,
  times,
  orders,
];
