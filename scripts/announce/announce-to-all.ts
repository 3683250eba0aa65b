import type { Domain } from '../../domain/domain.js';
import { createProgress } from '../command/progress.js';

/** Members notified together; Ctrl-C takes effect between batches. */
const BATCH = 500;

/** Exit status of a command ended by Ctrl-C, as shells report it. */
const INTERRUPTED = 130;

export interface Announcement {
  /** No member is notified twice of the same key. */
  key: string;
  content: string;
  /** A path inside the app, with a leading slash. */
  url: string;
}

/**
 * Notifies every member, in batches. The notifications are stored; a running service finds them and delivers
 * them to connected members.
 *
 * @returns the exit status: 0 if all members are notified, 130 if interrupted
 */
export async function announceToAll(domain: Domain, { key, content, url }: Announcement): Promise<number> {
  const { directory } = domain.members;
  // Printed first, so that the announcement can be resumed however this run ends.
  process.stderr.write(`key ${key} (if interrupted: the same command with --resume ${key})\n`);
  const progress = createProgress(await directory.count(), 'announce');
  let interrupted = false;
  const interrupt = () => {
    interrupted = true;
  };
  process.on('SIGINT', interrupt);
  let notified = 0;
  let before = 0;
  try {
    for await (const numbers of directory.allNumbers(BATCH)) {
      if (interrupted) break;
      const fresh = await Promise.all(
        numbers.map((memberNo) =>
          domain.notifications.notify({
            memberNo,
            type: 'announcement',
            content,
            url,
            originNo: 0,
            cause: `announcement:${key}`,
          }),
        ),
      );
      const count = fresh.filter(Boolean).length;
      notified += count;
      before += numbers.length - count;
      progress.advance(numbers.length);
    }
  } finally {
    process.removeListener('SIGINT', interrupt);
    progress.stop();
  }
  const already = before > 0 ? `, ${before} had been notified before` : '';
  const state = interrupted ? 'interrupted: ' : '';
  process.stdout.write(`${state}${notified} members notified${already}\n`);
  return interrupted ? INTERRUPTED : 0;
}
