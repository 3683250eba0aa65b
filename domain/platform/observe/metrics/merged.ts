import { AppError } from '../../../kernel/errors.js';
import { cachedFor } from '../../async/shared-runs.js';
import type { Config } from '../../settings/config.js';
import { readTargets } from './targets.js';

/** Time for a process to answer, ms. */
const ANSWER_MS = 1_000;

/** A process and what it exposes; without text it did not answer. */
interface Scrape {
  instance: string;
  process: string;
  text: string | undefined;
}

/** The lines of one metric: the format wants them together. */
interface Family {
  comments: Set<string>;
  samples: string[];
}

function withLabel(sample: string, label: string): string {
  const at = sample.search(/[{ ]/);
  const [name, rest] = [sample.slice(0, at), sample.slice(at)];
  return rest.startsWith('{') ? `${name}{${label},${rest.slice(1)}` : `${name}{${label}}${rest}`;
}

/**
 * Joins what processes expose into one text. Each sample gets its process's address as label `instance`, as
 * Prometheus itself would add it; `up` is 0 for a process that did not answer.
 */
function mergeMetrics(scrapes: Scrape[]): string {
  const families = new Map<string, Family>();
  const add = (text: string, label: string) => {
    let family: Family = { comments: new Set(), samples: [] };
    for (const line of text.split('\n')) {
      const [, keyword, name = ''] = /^# (HELP|TYPE) (\S+)/.exec(line) ?? [];
      if (keyword) {
        family = families.get(name) ?? { comments: new Set(), samples: [] };
        families.set(name, family);
        // Two versions, during a reload, may describe a metric differently; it may have one description.
        const isKnown = [...family.comments].some((comment) => comment.startsWith(`# ${keyword} `));
        if (!isKnown) family.comments.add(line);
      } else if (line && !line.startsWith('#')) family.samples.push(withLabel(line, label));
    }
  };
  for (const { instance, process, text } of scrapes) {
    const up = `# HELP up 1 if the process answered\n# TYPE up gauge\nup{process="${process}"} ${text === undefined ? 0 : 1}`;
    add(up, `instance="${instance}"`);
    if (text !== undefined) add(text, `instance="${instance}"`);
  }
  const lines = [...families.values()].flatMap(({ comments, samples }) => [...comments, ...samples]);
  return lines.map((line) => `${line}\n`).join('');
}

/**
 * The metrics of all processes that `npm run cluster` lists, at most a second old.
 * @returns a function that rejects with NOT_FOUND if none are listed
 */
export function exposeMerged(config: Pick<Config, 'DATA_DIR' | 'METRICS_TOKEN'>): () => Promise<string> {
  const headers = { Authorization: `Bearer ${config.METRICS_TOKEN}` };

  async function scrape(instance: string, process: string): Promise<Scrape> {
    try {
      const signal = AbortSignal.timeout(ANSWER_MS);
      const answer = await fetch(`http://${instance}/metrics`, { headers, signal });
      return { instance, process, text: answer.ok ? await answer.text() : undefined };
    } catch {
      // Refused, reset or late: `up` is 0.
      return { instance, process, text: undefined };
    }
  }

  return cachedFor(1_000, async () => {
    const groups = readTargets(config);
    if (!groups) throw new AppError('NOT_FOUND', 'no processes are listed: npm run cluster keeps the list');
    const all = groups.flatMap(({ targets, labels }) =>
      targets.map((target) => scrape(target, labels.process)),
    );
    return mergeMetrics(await Promise.all(all));
  });
}
