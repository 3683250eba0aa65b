/** Browser pages of this machine: what development allows when nothing is configured. */
const LOOPBACK = /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/;

/**
 * @param configured origins in their canonical form or `*`; undefined: loopback pages alone
 * @returns whether a page of this origin may call; the same answer on both ports
 */
export function createOriginPolicy(configured: readonly string[] | undefined): (origin: string) => boolean {
  if (!configured) return (origin) => LOOPBACK.test(origin);
  if (configured.includes('*')) return () => true;
  const allowed = new Set(configured);
  return (origin) => allowed.has(origin);
}
