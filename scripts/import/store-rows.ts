import type { Domain } from '../../domain/domain.js';
import { comparable } from '../../domain/kernel/same-text.js';
import type { AdoptionRow, MemberRow } from './row.schema.js';

/** A valid row and its place in the file. */
export interface CheckedRow {
  line: number;
  /** Its index among the valid rows of the file. */
  order: number;
  row: MemberRow | AdoptionRow;
}

export type Outcome = 'created' | 'updated' | 'unchanged';

/** The outcome of a row that was not refused. */
export interface StoredRow {
  record: 'member' | 'adoption';
  outcome: Outcome;
}

export interface StoreResult {
  stored: StoredRow[];
  refused: { line: number; fault: string }[];
}

/** The record a row is about: two rows about one record must not be stored in the same batch. */
export function identityOf({ row }: CheckedRow): string {
  if (row.record === 'member') return `member ${row.email}`;
  if (row.id !== undefined) return `adoption ${row.id}`;
  return comparable(JSON.stringify([row.author, row.title, row.name]));
}

async function storeMembers(domain: Domain, rows: { line: number; row: MemberRow }[]): Promise<StoreResult> {
  if (rows.length === 0) return { stored: [], refused: [] };
  const issuedAt = Math.floor(Date.now() / 1_000);
  const saved = await domain.members.saveAll(
    rows.map(({ row: { record: _, ...facts } }) => ({ ...facts, issuedAt })),
  );
  const result: StoreResult = { stored: [], refused: [] };
  for (const [i, { outcome }] of saved.entries()) {
    const line = rows[i]?.line ?? 0;
    if (outcome === 'left') result.refused.push({ line, fault: 'email: this member has left' });
    else result.stored.push({ record: 'member', outcome });
  }
  return result;
}

async function storePosts(
  domain: Domain,
  rows: (CheckedRow & { row: AdoptionRow })[],
  createdAt: Map<string, number>,
): Promise<StoreResult> {
  const result: StoreResult = { stored: [], refused: [] };
  if (rows.length === 0) return result;
  const authors = await domain.members.directory.findByEmails([
    ...new Set(rows.map(({ row }) => row.author)),
  ]);
  const posts = rows.flatMap(({ line, order, row: { record: _, author, ...post } }) => {
    const member = authors.get(author);
    // A member created by this batch counts from their own row on, regardless of batch limits.
    if (member && (createdAt.get(author) ?? 0) <= order) {
      return { line, post: { ...post, authorNo: member.no } };
    }
    result.refused.push({
      line,
      fault: `author: there is no member ${author}, in the database or earlier in the file`,
    });
    return [];
  });
  const outcomes = await domain.adoption.importPosts(posts.map(({ post }) => post));
  for (const [i, outcome] of outcomes.entries()) {
    const { line, post } = posts[i] as (typeof posts)[number];
    if (outcome !== 'taken') result.stored.push({ record: 'adoption', outcome });
    else result.refused.push({ line, fault: `id: ${post.id} is the number of another post` });
  }
  return result;
}

/**
 * Stores a batch of rows, members before the posts that refer to them.
 *
 * @param rows in the order of the file, no two about the same record
 */
export async function storeRows(domain: Domain, rows: CheckedRow[]): Promise<StoreResult> {
  const memberRows = rows.flatMap(({ row, ...place }) => (row.record === 'member' ? { ...place, row } : []));
  const postRows = rows.flatMap(({ row, ...place }) => (row.record === 'adoption' ? { ...place, row } : []));
  const known = await domain.members.directory.findByEmails(memberRows.map(({ row }) => row.email));
  const members = await storeMembers(domain, memberRows);
  const createdAt = new Map(
    memberRows.filter(({ row }) => !known.has(row.email)).map(({ order, row }) => [row.email, order]),
  );
  const posts = await storePosts(domain, postRows, createdAt);
  return {
    stored: [...members.stored, ...posts.stored],
    refused: [...members.refused, ...posts.refused],
  };
}
