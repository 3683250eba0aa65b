import type { Actor } from '../../kernel/actor.js';

/** Who may edit or delete a comment: its author, and administrators. (contract, section 3) */
export function mayChangeComment(actor: Actor, comment: { authorNo: number }): boolean {
  return actor.no === comment.authorNo || actor.role === 'ADMIN';
}
