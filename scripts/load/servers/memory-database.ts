import { startEmbeddedMongo } from '../../embedded-mongo/server.js';
import { reportReady } from '../worker-process.js';

/** The embedded database in memory, the measure of its durable storage. */
reportReady((await startEmbeddedMongo({ storage: 'memory' })).port);
