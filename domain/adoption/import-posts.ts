import { createHash } from 'node:crypto';
import type { Clock } from '../kernel/clock.js';
import { formsOf, isSameText } from '../kernel/same-text.js';
import { insertNew } from '../platform/mongo/inserts.js';
import { nextNumbers, reserveNumbers } from '../platform/mongo/sequence.model.js';
import { AdoptionPost, type AdoptionPostRecord } from './adoption-post.model.js';
import type { AdoptionPostDraft } from './save-post.js';

/** An imported post; without a number, author, title and name identify it, in any form of Unicode (NFC, NFD). */
export type ImportedPost = Omit<AdoptionPostDraft, 'modal'> & { id?: number | undefined };

/** `taken`: another post, imported without a number, has this number; nothing was changed. */
export type ImportOutcome = 'created' | 'updated' | 'unchanged' | 'taken';

/** The fields that an import sets. */
type Fields = Omit<AdoptionPostDraft, 'modal'>;

function naturalKey({ authorNo, title, name }: Fields): string {
  return createHash('sha256')
    .update(JSON.stringify([authorNo, title, name]))
    .digest('base64url');
}

/**
 * The identity of a post without a number, and after it those that earlier versions stored, which compared the forms of
 * Unicode that their rows had.
 */
function naturalKeys(post: Fields): [string, ...string[]] {
  const [first, ...others] = formsOf(post.title).flatMap((title) =>
    formsOf(post.name).map((name) => naturalKey({ ...post, title, name })),
  );
  return [first as string, ...others];
}

function fieldsOf(post: Fields): Fields {
  const { authorNo, title, name, age, kind, latitude, longitude, thumbnail } = post;
  return { authorNo, title, name, age, kind, latitude, longitude, thumbnail };
}

/** The stored ones of these posts, by number and by natural key. */
async function findStored(
  numbers: number[],
  keys: string[],
): Promise<Map<number | string, AdoptionPostRecord>> {
  const [numbered, keyed] = await Promise.all([
    numbers.length > 0 ? AdoptionPost.find({ _id: { $in: numbers } }).lean() : [],
    keys.length > 0 ? AdoptionPost.find({ importKey: { $in: keys } }).lean() : [],
  ]);
  const byNumber = numbered.map((post) => [post._id, post] as const);
  const byKey = keyed.map((post) => [post.importKey ?? '', post] as const);
  return new Map<number | string, AdoptionPostRecord>([...byNumber, ...byKey]);
}

/** @returns a function that finds a post's number, or its key: the one it is stored under, else the first */
function identityIn(stored: ReadonlyMap<number | string, unknown>) {
  return (post: ImportedPost): number | string => {
    if (post.id !== undefined) return post.id;
    const keys = naturalKeys(post);
    return keys.find((key) => stored.has(key)) ?? keys[0];
  };
}

/** To be called before an import with the highest of its numbers that might be assigned: posts without one get higher ones. */
export async function reservePostNumbers(highest: number): Promise<void> {
  await reserveNumbers('adoption', [highest]);
}

/**
 * Stores posts in a few writes, each post by one of them: an interruption leaves whole posts, and repeating
 * the call completes it.
 *
 * @param posts no number twice, and no natural key twice among those without a number
 * @returns the outcomes in order, and the numbers written
 */
export async function importPosts(
  clock: Clock,
  posts: ImportedPost[],
): Promise<{ outcomes: ImportOutcome[]; numbers: number[] }> {
  const numbers = posts.flatMap(({ id }) => id ?? []);
  const keyed = posts.flatMap((post) => (post.id === undefined ? [naturalKeys(post)] : []));
  const stored = await findStored(numbers, keyed.flat());
  const identities = posts.map(identityIn(stored));

  // Reserved before use: concurrently created posts do not get the same numbers.
  await reserveNumbers('adoption', numbers);
  const fresh = identities.filter((identity) => typeof identity === 'string' && !stored.has(identity));
  let next = fresh.length > 0 ? await nextNumbers('adoption', fresh.length) : 0;
  const createdAt = new Date(clock.now());
  const created: AdoptionPostRecord[] = [];
  for (const [i, identity] of identities.entries()) {
    if (stored.has(identity)) continue;
    const fields = fieldsOf(posts[i] as ImportedPost);
    const known = typeof identity === 'number' ? { _id: identity } : { _id: next, importKey: identity };
    if (typeof identity === 'string') next += 1;
    created.push({ ...known, ...fields, modal: false, createdAt });
  }
  const refused = await insertNew(AdoptionPost, created);
  if (refused.length > 0) {
    // Stored by another import meanwhile: compared like those found first.
    const others = await findStored(
      refused.flatMap(({ _id, importKey }) => (importKey === undefined ? _id : [])),
      refused.flatMap(({ importKey }) => importKey ?? []),
    );
    for (const [identity, post] of others) stored.set(identity, post);
  }

  const updates: { _id: number; fields: Fields }[] = [];
  const outcomes = identities.map((identity, i): ImportOutcome => {
    const before = stored.get(identity);
    if (!before) return 'created';
    const fields = fieldsOf(posts[i] as ImportedPost);
    if (before.importKey !== undefined && !naturalKeys(fields).includes(before.importKey)) return 'taken';
    if (isSameText(JSON.stringify(fields), JSON.stringify(fieldsOf(before)))) return 'unchanged';
    updates.push({ _id: before._id, fields });
    return 'updated';
  });
  if (updates.length > 0) {
    await AdoptionPost.bulkWrite(
      updates.map(({ _id, fields }) => ({ updateOne: { filter: { _id }, update: { $set: fields } } })),
      { ordered: false },
    );
  }
  return {
    outcomes,
    numbers: [...updates.map(({ _id }) => _id), ...created.map(({ _id }) => _id)],
  };
}
