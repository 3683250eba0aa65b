import { expect } from 'chai';
import type { Finding } from '../../../scripts/doctor/check.js';
import { service } from '../../support/service.js';
import { runScript } from '../script-runs.js';

/** Settings of the service of this process. */
export async function serviceSettings(): Promise<Record<string, string>> {
  const { http, gateway, config, mongoUri } = await service();
  return {
    HTTP_PORT: new URL(http).port,
    GATEWAY_PORT: new URL(gateway).port,
    DATA_DIR: config.DATA_DIR,
    MONGODB_URI: mongoUri,
  };
}

/**
 * Runs the doctor, in a process of its own: one whose checks are late, as on a busy machine, ends its process.
 * @returns its exit status and its findings by check, `RESULT: TEXT → REMEDY`
 */
export async function examine(settings: Record<string, string>, args: string[] = []) {
  const { status, stdout, stderr } = await runScript('scripts/doctor.js', ['--json', ...args], settings);
  expect(stderr).to.equal('');
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  const lines: Record<string, string> = {};
  for (const { check, result, text, remedy } of findings) {
    const line = `${result}: ${text}${remedy ? ` → ${remedy}` : ''}`;
    lines[check] = lines[check] ? `${lines[check]}\n${line}` : line;
  }
  return { status, lines, output: stdout };
}
