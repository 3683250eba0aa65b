import type { Actor } from '../kernel/actor.js';

/** An article or comment may be edited and deleted by its author and by administrators. (contract, section 3) */
export function mayChange(actor: Actor, record: { authorNo: number }): boolean {
  return actor.no === record.authorNo || actor.role === 'ADMIN';
}
