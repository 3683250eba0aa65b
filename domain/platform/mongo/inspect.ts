import type { Connection } from 'mongoose';
import { withoutTimeLimit } from './connection.js';
import { missingIndexes } from './indexes.js';
import { readState, type SchemaState } from './schema-version.js';

/** A member of a replica set, as the set sees it. */
interface SetMember {
  name: string;
  isUp: boolean;
}

/** What the service's database is like. */
export interface MongoFacts {
  version: string;
  /** Name of the replica set; undefined for a single server and for a router of shards. */
  setName: string | undefined;
  isSharded: boolean;
  /** Members of the set that hold data; empty without one. Who may not ask for their state sees them all up. */
  members: SetMember[];
  /** Whether writes wait for a majority and its journals, as the connection string has it. */
  writeConcern: { w: string | number; journal: boolean };
  /** Whether the service has stored nothing here yet. */
  isEmpty: boolean;
  /** How far the data is. */
  schema: SchemaState;
  /** Indexes of the models, one line each. */
  missingIndexes: string[];
  /** Its clock minus ours, ms. */
  skewMs: number;
}

async function stateOf(connection: Connection, hosts: string[]): Promise<SetMember[]> {
  try {
    const { members } = await connection.getClient().db('admin').command({ replSetGetStatus: 1 });
    const list = members as { name: string; health: number; stateStr: string }[];
    return list
      .filter(({ stateStr }) => stateStr !== 'ARBITER')
      .map(({ name, health }) => ({ name, isUp: health === 1 }));
  } catch {
    // It needs a right that the service does not.
    return hosts.map((name) => ({ name, isUp: true }));
  }
}

/**
 * Reads what a check of the installation needs, over a connection of its own.
 * @throws the driver's error if the database does not answer
 */
export function inspectMongo(uri: string): Promise<MongoFacts> {
  return withoutTimeLimit(uri, async (connection) => {
    const client = connection.getClient();
    const admin = client.db('admin');
    const sentAt = Date.now();
    const hello = await admin.command({ hello: 1 });
    const midway = (sentAt + Date.now()) / 2;
    const { version } = await admin.command({ buildInfo: 1 });
    const { w = 'majority', journal = true } = client.options.writeConcern ?? {};
    return {
      version,
      setName: hello.setName,
      isSharded: hello.msg === 'isdbgrid',
      members: hello.setName ? await stateOf(connection, hello.hosts ?? []) : [],
      writeConcern: { w: w as string | number, journal },
      isEmpty: (await connection.listCollections()).length === 0,
      schema: await readState(connection, true),
      missingIndexes: await missingIndexes(connection),
      skewMs: (hello.localTime as Date).getTime() - midway,
    };
  });
}
