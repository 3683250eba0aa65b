import type { Actor } from '../../kernel/actor.js';

/** Who may edit or delete an article: its author, and administrators. (contract, section 3) */
export function mayChangeArticle(actor: Actor, article: { authorNo: number }): boolean {
  return actor.no === article.authorNo || actor.role === 'ADMIN';
}
