/** Pages of this machine: the default. */
const LOOPBACK = /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/;

/**
 * @param configured origins in canonical form, or `*`; undefined: loopback pages only
 * @returns whether a page of an origin may call, on both ports
 */
export function createOriginPolicy(configured: readonly string[] | undefined): (origin: string) => boolean {
  if (!configured) return (origin) => LOOPBACK.test(origin);
  if (configured.includes('*')) return () => true;
  const allowed = new Set(configured);
  return (origin) => allowed.has(origin);
}
