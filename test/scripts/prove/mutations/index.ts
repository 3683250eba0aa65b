import type { Mutation } from './edit-history.js';
import { answerMutations } from './of-answers.js';
import { articleMutations } from './of-articles.js';
import { closedRoomMutations } from './of-closed-rooms.js';
import { communityMutations } from './of-community.js';
import { messageMutations } from './of-messages.js';
import { noticeMutations } from './of-notices.js';
import { refusalMutations } from './of-refusals.js';
import { viewMutations } from './of-views.js';

export const mutations: readonly Mutation[] = [
  ...messageMutations,
  ...viewMutations,
  ...noticeMutations,
  ...communityMutations,
  ...answerMutations,
  ...articleMutations,
  ...closedRoomMutations,
  ...refusalMutations,
];
