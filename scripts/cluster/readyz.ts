import type { Config } from '../../domain/platform/config.js';
import { baseUrl } from '../start/welcome.js';
import { within } from './pm2-home.js';

/** Time for /readyz to confirm that processes are ready, as they have reported, ms. */
const READYZ_MS = 30_000;

/** Waits until /readyz of a port confirms. @throws Error with its last answer if it does not */
export async function waitForReadyz({ HOST }: Config, port: number): Promise<void> {
  const url = `${baseUrl(HOST, port)}/readyz`;
  let last = '';
  const confirms = async () => {
    try {
      const answer = await fetch(url, { signal: AbortSignal.timeout(4_000) });
      last = `answers ${answer.status}: ${(await answer.text()).slice(0, 300)}`;
      return answer.ok;
    } catch (error) {
      const { cause, message } = error as Error & { cause?: Error };
      last = cause?.message ?? message;
      return false;
    }
  };
  if (!(await within(READYZ_MS, confirms))) throw new Error(`${url} ${last}`);
}
