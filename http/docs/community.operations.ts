import { described, listOf, ref } from './json-schema.js';
import { done, type OperationTable } from './operation.js';

const noArticle = { ARTICLE_NOT_FOUND: 'there is no such article' };
const noComment = { COMMENT_NOT_FOUND: 'there is no such comment' };

const articleId = { description: 'article identifier', example: 1 };

const articleFields = {
  categoryId: 'category identifier; any number from 0, categories are the app’s own',
  title: 'title',
  context: 'body text',
  imageList: 'images attached; an edit replaces the whole list',
  'imageList[].id': 'image identifier, the writer’s own; `imageNo` where it is read',
  'imageList[].url': 'image address; `imageUrl` where it is read',
};

const article = {
  categoryId: 1,
  title: 'Bori found a home',
  context: 'Three months after adoption …',
  imageList: [{ id: 1, url: 'image/bori.jpg' }],
};

const heartTarget = { description: 'what is liked', example: 'article' };

const likeCount = {
  description: 'It is done; `data` is the updated like count.',
  schema: ref('LikeCount'),
};

/** Interface, "Community: articles" to "Community: likes", in its order. */
export const communityOperations: OperationTable = {
  'GET /community/article/{article_id}': {
    id: 'readArticle',
    tag: 'Articles',
    summary: 'Read article',
    description: 'Returns one article and adds a view to it. Without a token `mine` is false.',
    parameters: { article_id: articleId },
    answer: { description: 'The article.', schema: ref('ArticleDetail') },
    errors: noArticle,
  },
  'GET /community/list/{order}': {
    id: 'listArticles',
    tag: 'Articles',
    summary: 'List articles',
    description:
      'Returns the HOT article, the WEEKLY article and a page of articles: `recent` newest first, `like` most liked first. Filters narrow the list alone, never `hot` and `weekly`.',
    parameters: {
      order: { description: 'order of the list', example: 'recent' },
      page: { description: 'page, from 1', example: 1, bounds: { minimum: 1, maximum: 10_000, default: 1 } },
      size: { description: 'articles a page', example: 10, bounds: { minimum: 1, maximum: 50, default: 10 } },
      categoryId: { description: 'only articles of this category', bounds: { maximum: 2 ** 31 - 1 } },
      keyword: {
        description: 'only articles that hold this text, literally and in any case; ignored without `option`',
      },
      option: {
        description:
          'where the keyword is looked for: `title` or 1, `context` or 2, 3 for either of these, `author`; 0, empty or absent: nowhere, the list is not filtered',
        example: 'title',
      },
    },
    answer: { description: 'The page, and the two that lead.', schema: ref('ArticleList') },
    errors: {},
  },
  'POST /community/article': {
    id: 'createArticle',
    tag: 'Articles',
    summary: 'Create article',
    description: 'Publishes an article.',
    body: {
      fields: {
        ...articleFields,
        thumbnail: 'thumbnail image URL; absent, null or empty: the first image’s address, else none',
      },
      example: { ...article, thumbnail: 'image/bori-small.jpg' },
    },
    answer: done,
    errors: {},
  },
  'PATCH /community/article/{article_id}': {
    id: 'editArticle',
    tag: 'Articles',
    summary: 'Edit article',
    description:
      'Replaces the fields that are sent; what is left out or null stays, the thumbnail too. At least one field is needed. Only the author, or a member of role ADMIN, may edit.',
    parameters: { article_id: articleId },
    body: { fields: { ...articleFields, thumbnail: 'thumbnail image URL' }, example: article },
    answer: done,
    errors: { FORBIDDEN: 'only its author may edit an article', ...noArticle },
  },
  'DELETE /community/article/{article_id}': {
    id: 'deleteArticle',
    tag: 'Articles',
    summary: 'Delete article',
    description:
      'Takes the article away with its hearts and bookmarks; it and its comments answer 404 from then on. Only the author, or a member of role ADMIN, may delete.',
    parameters: { article_id: articleId },
    answer: done,
    errors: { FORBIDDEN: 'only its author may delete an article', ...noArticle },
  },

  'POST /community/bookmark/{target_id}': {
    id: 'addBookmark',
    tag: 'Bookmarks',
    summary: 'Add bookmark',
    description: 'Bookmarks an article for the calling member.',
    parameters: { target_id: articleId },
    answer: done,
    errors: { ...noArticle, ALREADY_BOOKMARKED: 'this member has that bookmark already' },
  },
  'DELETE /community/bookmark/{target_id}': {
    id: 'removeBookmark',
    tag: 'Bookmarks',
    summary: 'Remove bookmark',
    description: 'Takes a bookmark of the calling member away.',
    parameters: { target_id: articleId },
    answer: done,
    errors: { ...noArticle, BOOKMARK_NOT_FOUND: 'there is no such bookmark' },
  },

  'GET /community/comment/{id}': {
    id: 'listComments',
    tag: 'Comments',
    summary: 'List comments',
    description:
      'Returns all comments of an article, oldest first, each with its replies. A deleted comment that still has replies is listed with an empty text and `deleteStatus` 1.',
    parameters: { id: articleId },
    answer: {
      description: 'The comments.',
      schema: described(listOf(ref('Comment'), ''), 'comments, oldest first'),
    },
    errors: noArticle,
  },
  'POST /community/comment': {
    id: 'createComment',
    tag: 'Comments',
    summary: 'Create comment',
    description:
      'Comments on an article, or replies to a comment of it. The author of the article (`comment`) or of the comment answered (`recomment`) is notified, never the writer.',
    body: {
      fields: {
        boardId: 'the article',
        parentId: 'the comment to reply to; null, 0 or absent: a comment on the article itself',
        context: 'comment text',
      },
      example: { boardId: 1, parentId: 0, context: 'Congratulations!' },
    },
    answer: done,
    errors: {
      INVALID_INPUT: 'parentId: must be a comment; a reply takes no replies',
      ...noArticle,
      COMMENT_NOT_FOUND: 'parentId: there is no comment 31',
    },
  },
  'PATCH /community/comment': {
    id: 'editComment',
    tag: 'Comments',
    summary: 'Edit comment',
    description: 'Replaces the text of a comment or reply. Only the author, or role ADMIN, may edit.',
    body: {
      fields: { id: 'comment identifier', context: 'comment text' },
      example: { id: 31, context: 'Congratulations to you both!' },
    },
    answer: done,
    errors: { FORBIDDEN: 'only its author may edit a comment', ...noComment },
  },
  'DELETE /community/comment/{id}': {
    id: 'deleteComment',
    tag: 'Comments',
    summary: 'Delete comment',
    description:
      'Deletes a comment or reply. With live replies it stays, flagged and without its text, until the last of them goes. Only the author, or role ADMIN, may delete.',
    parameters: { id: { description: 'comment identifier', example: 31 } },
    answer: done,
    errors: { FORBIDDEN: 'only its author may delete a comment', ...noComment },
  },

  'POST /community/heart': {
    id: 'addLike',
    tag: 'Likes',
    summary: 'Add like',
    description: 'Gives a heart to an article or a comment; a member has one for each.',
    body: {
      fields: { target: 'what is liked', id: 'identifier of the article or comment' },
      example: { target: 'article', id: 1 },
    },
    answer: likeCount,
    errors: { ...noArticle, ...noComment, ALREADY_HEARTED: 'this member has given that heart already' },
  },
  'DELETE /community/heart/{target}/{id}': {
    id: 'removeLike',
    tag: 'Likes',
    summary: 'Remove like',
    description: 'Takes a heart back.',
    parameters: {
      target: heartTarget,
      id: { description: 'identifier of the article or comment', example: 1 },
    },
    answer: likeCount,
    errors: { ...noArticle, ...noComment, HEART_NOT_FOUND: 'there is no such heart' },
  },
};
