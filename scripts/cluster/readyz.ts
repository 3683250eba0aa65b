import { OVERLOADED } from '../../domain/platform/process/overload.js';
import type { Config } from '../../domain/platform/settings/config.js';
import { baseUrl } from '../start/welcome.js';
import { within } from './pm2-home.js';

/** Time for /readyz to confirm that processes are ready, as they have reported, ms. */
const READYZ_MS = 30_000;

/**
 * Waits until /readyz of a port confirms. A process that only has too much to do has started: that is waited for no
 * longer than READYZ_MS, too, but then taken for ready.
 * @param say is told once that this is waited for, and once that it goes on
 * @throws Error with its last answer if it does not confirm
 */
export async function waitForReadyz(
  { HOST }: Pick<Config, 'HOST'>,
  port: number,
  say: (line: string) => void = () => {},
  ms = READYZ_MS,
): Promise<void> {
  const url = `${baseUrl(HOST, port)}/readyz`;
  let last = '';
  let isOverloaded = false;
  const confirms = async () => {
    try {
      const answer = await fetch(url, { signal: AbortSignal.timeout(4_000) });
      const body = await answer.text();
      last = `answers ${answer.status}: ${body.replaceAll(/\s+/g, ' ').slice(0, 300)}`;
      const wasOverloaded = isOverloaded;
      isOverloaded = !answer.ok && body.includes(OVERLOADED);
      if (isOverloaded && !wasOverloaded) say(`overloaded: waits for up to ${Math.ceil(ms / 1_000)} s`);
      return answer.ok;
    } catch (error) {
      const { cause, message } = error as Error & { cause?: Error };
      last = cause?.message ?? message;
      isOverloaded = false;
      return false;
    }
  };
  if (await within(ms, confirms)) return;
  if (!isOverloaded) throw new Error(`${url} ${last}`);
  say('still overloaded: goes on');
}
