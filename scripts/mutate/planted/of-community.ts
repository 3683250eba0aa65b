import type { PlantedFault } from './planted-fault.js';

/** Comments, hearts and bookmarks of articles. */
export const ofCommunity: Record<string, PlantedFault> = {
  'bookmarks-of-all': {
    does: 'removes everybody’s bookmark of an article',
    file: 'domain/community/remove-bookmark.js',
    find: 'Bookmark.deleteOne({ articleId, memberNo: actor.no })',
    replace: 'Bookmark.deleteMany({ articleId })',
    rule: 'bookmarks-are-kept',
  },
  'recount-of-any-version': {
    does: 'stores a count although another process has stored a later one',
    file: 'domain/community/recount.js',
    find: 'model.updateOne({ _id, [version]: read }, change)',
    replace: 'model.updateOne({ _id }, change)',
    rule: 'hearts-are-counted',
  },
  'heart-twice': {
    does: 'accepts a heart that was given before',
    file: 'domain/community/give-heart.js',
    find: '{ target, id, memberNo, on: { $ne: true } }',
    replace: '{ target, id, memberNo }',
    rule: 'hearts-are-counted',
  },
  'reply-to-nobody': {
    does: 'stores replies as comments',
    file: 'domain/community/create-comment.js',
    find: 'articleId,\n        parentId,\n        authorNo',
    replace: 'articleId,\n        parentId: 0,\n        authorNo',
    rule: 'answers-are-whole',
    or: 'comments-are-kept',
  },
  'count-deleted-comments': {
    does: 'does not count an article’s comments again after a deletion',
    file: 'domain/community/finish-comment.js',
    find: 'const counted = await counters.articleComments(articleId);',
    replace: 'const counted = 0;',
    rule: 'counters-are-records',
  },
};
