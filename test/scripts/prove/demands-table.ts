import { type Demand, demands } from '../../../scripts/prove/check/facts/coverage.js';

const WHERE = { own: 'installation of its own', gateways: 'of its own, several gateways' };
const BY = {
  clients: 'every run',
  calm: 'no faults',
  end: 'every run, at its end',
  faults: 'all faults',
  losses: '`flush`, `evict` alone',
  kill: '`kill`',
};

const rowOf = ({ says, least, by, where }: Demand): string =>
  `| ${says} | ${least} | ${where ? `${by === 'faults' ? `${BY[by]}, ` : ''}${WHERE[where]}` : BY[by]} |`;

/** The rows of the table in docs/consistency.md, of what is demanded. */
export const demandRows = (): string[] =>
  Object.values(demands)
    .filter(({ least }) => least > 0)
    .map(rowOf);
