import { z } from 'zod';
import { pathId, text, wholeNumber } from '../../domain/kernel/input.js';

/** Most characters a title, a text, an address and a search word may have, and images an article. */
const MAX_TITLE = 200;
const MAX_CONTEXT = 20_000;
const MAX_URL = 2_048;
const MAX_KEYWORD = 100;
const MAX_IMAGES = 20;
const MAX_CATEGORY = 2 ** 31 - 1;

/** Pages past this are refused: each skipped row costs the database a step. */
const MAX_PAGE = 10_000;
const MAX_SIZE = 50;
const DEFAULT_SIZE = 10;

const categoryId = wholeNumber(0, MAX_CATEGORY);

const image = z.object(
  {
    // An image's number is its writer's own; 0 is as good as any.
    id: wholeNumber(),
    url: text(MAX_URL),
  },
  'must be an object with id and url',
);

const imageList = z.array(image, 'must be a list').max(MAX_IMAGES, `must have at most ${MAX_IMAGES} images`);

const thumbnail = text(MAX_URL, 0);

/** null stands for "none" where a field may be left out: legacy clients send it. */
export const articleBody = z.object({
  categoryId,
  title: text(MAX_TITLE),
  context: text(MAX_CONTEXT),
  imageList: imageList.nullish().transform((list) => list ?? []),
  thumbnail: thumbnail.nullish().transform((url) => url ?? ''),
});

/** What an edit sends is replaced; what it leaves out, or sends as null, stays. */
export const articleChanges = z
  .object({
    categoryId: categoryId.nullish().transform((value) => value ?? undefined),
    title: text(MAX_TITLE)
      .nullish()
      .transform((value) => value ?? undefined),
    context: text(MAX_CONTEXT)
      .nullish()
      .transform((value) => value ?? undefined),
    imageList: imageList.nullish().transform((value) => value ?? undefined),
    thumbnail: thumbnail.nullish().transform((value) => value ?? undefined),
  })
  .refine(
    (changes) => Object.values(changes).some((value) => value !== undefined),
    'must hold at least one of categoryId, title, context, imageList and thumbnail',
  );

export const articlePath = z.object({ articleId: pathId });

export const listPath = z.object({ order: z.enum(['recent', 'like'], 'must be recent or like') });

/** A number in the query: digits alone, as in a path; empty counts as not sent. */
function queryNumber(min: number, max: number) {
  return z
    .string('must be sent once')
    .regex(/^\d{0,10}$/, 'must be a whole number')
    .transform((digits) => (digits === '' ? undefined : Number(digits)))
    .refine((value) => value === undefined || (value >= min && value <= max), `must be from ${min} to ${max}`)
    .optional();
}

/** Where a keyword is looked for: the words, and the numbers that the legacy app sends. (contract, section 3) */
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
  page: queryNumber(1, MAX_PAGE).transform((page) => page ?? 1),
  size: queryNumber(1, MAX_SIZE).transform((size) => size ?? DEFAULT_SIZE),
  categoryId: queryNumber(0, MAX_CATEGORY),
  // A search form that was left empty asks for everything.
  keyword: text(MAX_KEYWORD, 0)
    .optional()
    .transform((keyword) => keyword?.trim() || undefined),
  // 0 or none, as when the app turns pages: no filter, whatever the keyword.
  option: z
    .enum(options, 'must be title, context or author, or a number from 0 to 3')
    .optional()
    .transform((option = '') => SEARCHED[option]),
});
