import type { Actor } from '../kernel/actor.js';
import { AppError } from '../kernel/errors.js';

/**
 * An article or comment may be edited and deleted by its author and by administrators. (contract, section 3)
 * @param act the operation, for the error text
 * @throws AppError FORBIDDEN
 */
export function requireMayChange(actor: Actor, record: { authorNo: number }, act: string): void {
  if (actor.no === record.authorNo || actor.role === 'ADMIN') return;
  throw new AppError('FORBIDDEN', `only its author may ${act}`);
}
