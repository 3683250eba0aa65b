/** Node versions for which uWebSockets.js brings a binary. */
const SUPPORTED = [20, 22];

/**
 * Ends the process with one line where Node is of a version that the gateway has no binary for. To be
 * called before anything else is imported: the import is what would fail, and not readably.
 */
export function requireNode(version: string = process.versions.node): void {
  const major = Number(version.split('.')[0]);
  if (SUPPORTED.includes(major)) return;
  process.stderr.write(`Node ${SUPPORTED.join(' or ')} is needed; this is ${version}.\n`);
  process.exit(1);
}
