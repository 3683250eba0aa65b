import type { Account } from '../../run-accounts/accounts.js';
import type { Manner } from '../intrusions.js';

/** The signature of no key. */
const SIGNATURE = 'A'.repeat(43);

/** What a call in this manner sends as token. */
export function tokenFor({ token }: Account, manner: Manner | undefined): string | undefined {
  if (manner === 'tokenless') return undefined;
  if (manner !== 'forged') return token;
  return [...token.split('.').slice(0, 2), SIGNATURE].join('.');
}
