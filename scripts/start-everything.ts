import pc from 'picocolors';
import { issueToken } from '../domain/members/index.js';
import { type Config, loadConfig } from '../domain/platform/config.js';
import { createLogger } from '../domain/platform/logger.js';
import { metrics } from '../domain/platform/metrics.js';
import { type Shutdown, stopOnSignals } from '../domain/platform/shutdown.js';
import { address } from './address.js';
import { openDatabase } from './database.js';
import { takeSeat } from './only-service.js';
import { runService } from './run-service.js';
import { addSampleData, SAMPLE_MEMBER } from './sample-data.js';

/** What a person sees once everything answers: addresses, and two lines to paste. */
function welcome(http: string, gateway: string, sampleToken: string | undefined): string {
  const row = (name: string, value: string) => `  ${pc.bold(name.padEnd(24))}${pc.cyan(value)}`;
  return [
    '',
    row('REST and event streams', http),
    row('Sockets', gateway),
    row('API documents', `${http}/docs`),
    ...(sampleToken ? [row('Demo page', `${http}/demo`)] : []),
    '',
    '  Try:',
    `    curl -s '${http}/community/list/recent?size=3'`,
    sampleToken
      ? `    curl -s ${http}/chatroom -H 'Authorization: ${sampleToken}'`
      : `    curl -s '${http}/adopt/render'`,
    '',
    '  Ctrl-C stops it.',
    '',
    '',
  ].join('\n');
}

async function sampleToken(config: Config): Promise<string | undefined> {
  if (!config.DEMO || config.JWT_PUBLIC_KEY || config.JWKS_URL) return undefined;
  return issueToken(config, { ...SAMPLE_MEMBER, ttl: '12h' });
}

/** Ends a service that has no database: in order where it serves already, with status 1. */
function endWithout(running: Shutdown | undefined): void {
  if (!running) process.exit(1);
  else if (!running.draining) void running.begin('no database').then(() => process.exit(1));
}

/** Starts everything in one go and prints where it is. @throws with a readable message */
export async function startEverything(): Promise<void> {
  const config = loadConfig();
  const logger = createLogger(config.LOG_LEVEL, 'service');
  const seat = config.MONGODB_URI ? undefined : await takeSeat(config);
  let running: Shutdown | undefined;
  const database = await openDatabase(config, {
    onLost: () => logger.warn('the embedded database is gone: starting it again'),
    onBack: () => logger.info('the embedded database serves again'),
    onGone(error) {
      logger.fatal({ err: error }, 'the embedded database cannot be started again');
      endWithout(running);
    },
  }).catch((error) => {
    seat?.release();
    throw error;
  });
  try {
    const { httpPort, gatewayPort, shutdown } = await runService(
      config,
      logger,
      database.uri,
      config.DEMO ? (domain) => addSampleData(domain, logger) : undefined,
    );
    shutdown.add('embedded database', () => database.close());
    shutdown.add('seat', async () => seat?.release());
    running = shutdown;
    stopOnSignals(shutdown, logger, () => metrics.unexpectedErrors.inc());
    const text = welcome(
      address(config.HOST, httpPort),
      address(config.HOST, gatewayPort),
      await sampleToken(config),
    );
    process.stdout.write(text);
  } catch (error) {
    await database.close();
    seat?.release();
    throw error;
  }
}
