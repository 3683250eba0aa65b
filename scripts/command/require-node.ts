/** Whether the project runs on a version of Node. (package.json, engines) */
export function isSupported(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 22 || (major === 22 && minor >= 12) || (major === 20 && minor >= 19);
}

/**
 * Ends the process with a one-line message if this version of Node is too old. Call it before importing anything else:
 * that could fail with an unreadable error.
 */
export function requireNode(version: string = process.versions.node): void {
  if (isSupported(version)) return;
  process.stderr.write(`Node 20.19, 22.12 or newer is needed; this is ${version}.\n`);
  process.exit(1);
}
