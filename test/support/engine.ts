import type { EngineName } from '../../gateway/engine/engine.js';

const { GATEWAY_ENGINE } = process.env;

/** The engine that a run of the tests is for, as every gateway under test is given it; without one, its default. */
export const engineSetting: Record<string, string> = GATEWAY_ENGINE ? { GATEWAY_ENGINE } : {};

/** The engine that gateways under test run on. */
export const engineName: Promise<EngineName> = (async () => {
  if (GATEWAY_ENGINE === 'ws') return 'ws';
  return import('uWebSockets.js').then(
    () => 'uws' as const,
    () => 'ws' as const,
  );
})();

/** The engines that this Node can run, for tests that are about each. */
export const engineNames: EngineName[] = (await engineName) === 'uws' ? ['uws', 'ws'] : ['ws'];
