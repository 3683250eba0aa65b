import type { Logger } from '../../domain/platform/observe/logger.js';
import { CallbackGuard } from '../../domain/platform/process/callback-guard.js';
import { SpareFiles } from '../../domain/platform/process/spare-files.js';
import type { Config } from '../../domain/platform/settings/config.js';
import type { Engine } from './engine.js';

type Settings = Pick<Config, 'GATEWAY_ENGINE' | 'KEEP_ALIVE_MS'>;

/** How to get the faster engine. (docs/decisions/engines.md) */
const REMEDY =
  'newer binaries: npm install uWebSockets.js@npm:@btc-vision/uwebsockets.js@20 (Node 20 to 25, glibc 2.38) ' +
  'or uWebSockets.js@uNetworking/uWebSockets.js#v20.67.0 (Node 22 to 26)';

/** @throws Error when the package has no binary that this Node loads */
async function openUws(logger: Logger): Promise<Engine> {
  const { UwsEngine } = await import('./engine.uws.js');
  return new UwsEngine(new CallbackGuard(logger), new SpareFiles(logger));
}

async function openWs({ KEEP_ALIVE_MS }: Settings, logger: Logger): Promise<Engine> {
  const { WsEngine } = await import('./engine.ws.js');
  return new WsEngine(
    new CallbackGuard(logger),
    new SpareFiles(logger),
    KEEP_ALIVE_MS,
    process.versions.node,
  );
}

/**
 * Opens the engine that GATEWAY_ENGINE names: with `auto` uWebSockets.js where it has a binary that loads, else ws, and
 * says so.
 * @throws Error with GATEWAY_ENGINE=uws where there is no such binary
 */
export async function openEngine(config: Settings, logger: Logger) {
  const { GATEWAY_ENGINE } = config;
  if (GATEWAY_ENGINE === 'ws') return openWs(config, logger);
  try {
    return await openUws(logger);
  } catch (error) {
    const lacks = `uWebSockets.js has no binary that loads on Node ${process.versions.node}, ${process.platform} ${process.arch}`;
    if (GATEWAY_ENGINE === 'uws') throw new Error(`GATEWAY_ENGINE: ${lacks}; ${REMEDY}`, { cause: error });
    // After a general text, the package gives the loader's.
    const [, reason] = /\n\n(?:Error: )?([^\n]+)/.exec((error as Error).message) ?? [];
    logger.warn({ reason }, `${lacks}: sockets are served by the slower engine ws; ${REMEDY}`);
    return openWs(config, logger);
  }
}
