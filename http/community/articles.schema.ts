import { z } from 'zod';
import type { ArticleDetail, ArticleList } from '../../domain/community/index.js';
import { imageAddress, pathId, text, wholeNumber } from '../../domain/kernel/input.js';

/** Most characters a title, a text, an address and a search word may have, and images an article. */
export const MAX_TITLE = 200;
export const MAX_CONTEXT = 20_000;
const MAX_URL = 2_048;
const MAX_KEYWORD = 100;
export const MAX_IMAGES = 20;
const MAX_CATEGORY = 2 ** 31 - 1;

/** Pages beyond this are refused: the database steps through every skipped row. */
const MAX_PAGE = 10_000;
export const MAX_SIZE = 50;
const DEFAULT_SIZE = 10;

const categoryId = wholeNumber(0, MAX_CATEGORY).meta({ example: 1 });
const title = text(MAX_TITLE).meta({ description: 'title', example: 'Bori found a home' });
const context = text(MAX_CONTEXT).meta({ example: 'Three months after adoption …' });
const thumbnail = imageAddress(MAX_URL, 0).meta({ example: 'image/bori-small.jpg' });

const image = z.object(
  {
    // An image's number is chosen by its writer; 0 is allowed.
    id: wholeNumber().meta({
      description: 'image identifier, the writer’s own; `imageNo` where it is read',
      example: 1,
    }),
    url: imageAddress(MAX_URL).meta({
      description:
        'image address: http(s), a path, or a data URL of an image other than SVG; `imageUrl` where it is read',
      example: 'image/bori.jpg',
    }),
  },
  'must be an object with id and url',
);

const imageList = z.array(image, 'must be a list').max(MAX_IMAGES, `must have at most ${MAX_IMAGES} images`);

const meanings = {
  categoryId: { description: 'category identifier; any number from 0, categories are the app’s own' },
  context: { description: 'body text' },
  imageList: { description: 'images attached; an edit replaces the whole list' },
};

/** null stands for "none" where a field may be left out: legacy clients send it. */
export const articleBody = z.object({
  categoryId: categoryId.meta(meanings.categoryId),
  title,
  context: context.meta(meanings.context),
  imageList: imageList
    .nullish()
    .transform((list) => list ?? [])
    .meta(meanings.imageList),
  thumbnail: thumbnail
    .nullish()
    .transform((url) => url ?? '')
    .meta({
      description: 'thumbnail image URL; absent, null or empty: the first image’s address, else none',
    }),
});

/** A field of an edit: absent or null keeps what is stored. */
function change<T extends z.ZodType>(field: T, meta: { description: string }) {
  return field
    .nullish()
    .transform((value) => value ?? undefined)
    .meta(meta);
}

export const articleChanges = z
  .object({
    categoryId: change(categoryId, meanings.categoryId),
    title: change(title, { description: 'title' }),
    context: change(context, meanings.context),
    imageList: change(imageList, meanings.imageList),
    thumbnail: change(thumbnail, { description: 'thumbnail image URL' }),
  })
  .refine(
    (changes) => Object.values(changes).some((value) => value !== undefined),
    'must hold at least one of categoryId, title, context, imageList and thumbnail',
  )
  .meta({
    example: {
      categoryId: 1,
      title: 'Bori found a home',
      context: 'Three months after adoption …',
      imageList: [{ id: 1, url: 'image/bori.jpg' }],
    },
  });

/** An article's number in a path. */
export const articleId = pathId.meta({ description: 'article identifier', example: 1 });

export const articlePath = z.object({ articleId });

export const listPath = z.object({
  order: z
    .enum(['recent', 'like'], 'must be recent or like')
    .meta({ description: 'order of the list', example: 'recent' }),
});

/** A number in the query: digits alone, as in a path; empty counts as not sent. */
function queryNumber(minimum: number, maximum: number) {
  return z
    .string('must be sent once')
    .regex(/^\d{0,10}$/, 'must be a whole number')
    .transform((digits) => (digits === '' ? undefined : Number(digits)))
    .refine(
      (value) => value === undefined || (value >= minimum && value <= maximum),
      `must be from ${minimum} to ${maximum}`,
    )
    .optional()
    .meta({ minimum, maximum });
}

/** Fields that a search word is matched against: by name, and by the legacy app's numbers. (contract, section 3) */
const SEARCHED = {
  title: 'title',
  context: 'context',
  author: 'author',
  '1': 'title',
  '2': 'context',
  '3': 'either',
  '0': undefined,
  '': undefined,
} as const;

const options = Object.keys(SEARCHED) as [keyof typeof SEARCHED];

export const listQuery = z.object({
  page: queryNumber(1, MAX_PAGE)
    .transform((page) => page ?? 1)
    .meta({ description: 'page, from 1', example: 1, fallback: 1 }),
  size: queryNumber(1, MAX_SIZE)
    .transform((size) => size ?? DEFAULT_SIZE)
    .meta({ description: 'articles a page', example: DEFAULT_SIZE, fallback: DEFAULT_SIZE }),
  categoryId: queryNumber(0, MAX_CATEGORY).meta({ description: 'only articles of this category' }),
  // An empty search form requests everything.
  keyword: text(MAX_KEYWORD, 0)
    .optional()
    .transform((keyword) => keyword?.trim() || undefined)
    .meta({
      description:
        'only articles that hold this text, literally and in any case; a search looks among its first 10,000 articles; ignored without `option`',
    }),
  // 0 or none, as the legacy app sends while paging: no filter, whatever the keyword.
  option: z
    .enum(options, 'must be title, context or author, or a number from 0 to 3')
    .optional()
    .transform((option = '') => SEARCHED[option])
    .meta({
      description:
        'what the keyword is matched against: `title` or 1, `context` or 2, 3 for either of these, `author`; 0, empty or absent: nothing, the list is not filtered',
      example: 'title',
    }),
});

/** A local date-time in answers. (interface, "Article detail") */
export const publishedAt = z.string().meta({
  description: 'when it was published: ISO 8601 local date-time of the service, no zone offset',
  pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d+$',
  example: '2022-08-01T12:34:56.123456',
});

const shown = {
  id: z.int().meta({ description: 'article identifier', example: 1 }),
  title: z.string().meta({ description: 'title', example: 'Bori found a home' }),
  context: z.string().meta({ description: 'body text', example: 'Three months after adoption …' }),
  author: z.string().meta({ description: 'author nickname', example: 'Minji' }),
  view: z.int().meta({ description: 'view count', example: 120 }),
  like: z.int().meta({ description: 'like count', example: 14 }),
  comment: z.int().meta({ description: 'comment count', example: 5 }),
};

/** Interface, "Article detail". */
export const articleDetail = z
  .object({
    id: shown.id,
    mine: z
      .boolean()
      .meta({ description: 'whether the requesting member is the author; false without a token' }),
    header: z
      .object({
        title: shown.title,
        authorId: z.int().meta({ description: 'author member identifier', example: 3 }),
        username: shown.author,
        profile: z
          .string()
          .meta({ description: 'author profile image reference', example: 'profile/minji.png' }),
        view: shown.view,
        like: shown.like,
        comment: shown.comment,
        publishedAt,
      })
      .meta({ description: 'information part' }),
    context: z
      .object({
        context: shown.context.meta({ description: 'article body text' }),
        imageList: z
          .array(
            z
              .object({
                imageNo: z
                  .int()
                  .meta({ description: 'image identifier; `id` where it is written', example: 1 }),
                imageUrl: z.string().meta({
                  description: 'image address; `url` where it is written',
                  example: 'image/bori.jpg',
                }),
              })
              .meta({ description: 'an image' }),
          )
          .meta({ description: 'images of the article' }),
      })
      .meta({ description: 'content part' }),
  })
  .meta({ id: 'ArticleDetail', description: 'An article as it is read.' }) satisfies z.ZodType<ArticleDetail>;

/** Interface, "Article summary". */
const articleSummary = z
  .object({
    id: shown.id,
    title: shown.title,
    context: shown.context,
    author: shown.author,
    view: shown.view,
    comment: shown.comment,
    like: shown.like,
    publishedAt,
    thumbnail: z.string().meta({
      description: 'thumbnail image URL; the text `NONE` where there is none',
      example: 'image/bori-small.jpg',
    }),
  })
  .meta({ id: 'ArticleSummary', description: 'An article in a list.' });

export const articleList = z
  .object({
    hot: articleSummary.nullable().meta({
      description:
        'the article with most likes in 24 hours, else the best of all time; null without any article',
    }),
    weekly: articleSummary.nullable().meta({ description: 'the same over 7 days' }),
    list: z.array(articleSummary).meta({ description: 'the page asked for; may be empty' }),
  })
  .meta({
    id: 'ArticleList',
    description: 'A page of articles with the two that lead.',
  }) satisfies z.ZodType<ArticleList>;
