import mongoose, { type mongo } from 'mongoose';
import type { Logger } from '../observe/logger.js';
import { metrics } from '../observe/metrics.js';

/** Whether a server takes writes, as the driver has last seen it. */
function isUp({ servers }: mongo.TopologyDescription): boolean {
  return [...servers.values()].some((server) => server.isWritable);
}

/** Why no server does. */
function reasonOf({ servers, type }: mongo.TopologyDescription): string {
  const errors = [...servers.values()].flatMap(({ error }) => (error ? [error.message] : []));
  return errors[0] ?? type;
}

/**
 * Logs once when the connected database goes away and once when it is back, and keeps `adoption_database_up`. The driver asks
 * each server every second.
 *
 * @returns ends it: closing the connections is no outage
 */
export function watchMongo(logger: Logger): () => void {
  const client = mongoose.connection.getClient();
  let awaySince: number | undefined;
  const endGauge = metrics.databaseUp.watch(() => (awaySince === undefined ? 1 : 0));
  const onChange = ({ newDescription }: mongo.TopologyDescriptionChangedEvent) => {
    const up = isUp(newDescription);
    if (up === (awaySince === undefined)) return;
    if (!up) {
      awaySince = performance.now();
      logger.warn({ reason: reasonOf(newDescription) }, 'the database is away: calls answer 503');
      return;
    }
    const seconds = Math.round((performance.now() - (awaySince ?? 0)) / 100) / 10;
    awaySince = undefined;
    logger.info({ seconds }, 'the database is back');
  };
  client.on('topologyDescriptionChanged', onChange);
  return () => {
    client.off('topologyDescriptionChanged', onChange);
    endGauge();
  };
}
