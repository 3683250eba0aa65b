import { startEmbeddedMongo } from '../../embedded-mongo/server.js';

/** The embedded database on its memory twin: what durable storage is measured against. */
const server = await startEmbeddedMongo({ storage: 'memory' });
process.on('disconnect', () => process.exit(0));
process.on('SIGTERM', () => process.exit(0));
process.send?.({ port: server.port });
