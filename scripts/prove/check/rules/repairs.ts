import { LOSSES } from '../facts/repairs.js';
import type { Rule } from '../rule.js';

/**
 * Most losses with faults, as a share of the deliveries: 0.05 to 0.7 % were measured with all faults. While Redis is away, every
 * push to another process is lost.
 */
const SHARE = 0.3;

export const repairs: Rule = {
  name: 'pushes-arrive',
  says: 'What is pushed arrives, and who leaves says so: repairs that only a loss causes are none without faults, and few with them',
  source: 'docs/metrics.md: adoption_lost_pushes_total, adoption_presence_expired_total',
  watch(run, report) {
    let deliveries = 0;
    return {
      delivered() {
        deliveries += 1;
      },
      end() {
        const { losses, counts } = run.repairs;
        const most = run.disturbances.strikes > 0 ? Math.ceil(deliveries * SHARE) : 0;
        if (losses <= most) return;
        const named = LOSSES.filter((name) => counts.get(name)).map((name) => `${name}: ${counts.get(name)}`);
        report(`${named.join(', ')}; of ${deliveries} deliveries it may be ${most}`);
      },
    };
  },
};
