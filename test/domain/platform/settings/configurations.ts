import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Config, ConfigError, loadConfig } from '../../../../domain/platform/settings/config.js';

/** Of 32 bytes. */
export const SHORTEST_SECRET = 'x'.repeat(32);

/** Registers hooks that give each test an empty folder, in which settings are read. */
export function useConfigurations() {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'adoption-config-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const load = (env: Record<string, string> = {}): Config => loadConfig(env, folder);
  return {
    folder: () => folder,
    load,
    /** The faults that are told, a line each. */
    faults(env: Record<string, string>): string[] {
      try {
        load(env);
        return [];
      } catch (error) {
        expect(error).to.be.an.instanceOf(ConfigError);
        return (error as ConfigError).faults;
      }
    },
  };
}
