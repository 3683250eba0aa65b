import { startEmbeddedMongo } from 'embedded-mongo/server';
import { reportReady } from '../worker-process.js';

/** The embedded database in memory, the measure of its durable storage. */
reportReady((await startEmbeddedMongo({ storage: 'memory', database: 'adoption' })).port);
