/** Node versions for which uWebSockets.js has a binary. */
const SUPPORTED = [20, 22];

/**
 * Ends the process with a one-line message if the gateway has no binary for this version of Node. Call it before
 * importing the gateway: that import would fail with an unreadable error.
 */
export function requireNode(version: string = process.versions.node): void {
  const major = Number(version.split('.')[0]);
  if (SUPPORTED.includes(major)) return;
  process.stderr.write(`Node ${SUPPORTED.join(' or ')} is needed; this is ${version}.\n`);
  process.exit(1);
}
