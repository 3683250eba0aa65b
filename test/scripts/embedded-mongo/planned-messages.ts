import type { Engine } from '../../../scripts/embedded-mongo/commands/engine.js';
import type { Document } from '../../../scripts/embedded-mongo/values/bson-types.js';
import { buildEngine, runCommand } from './run-command.js';

export interface Explained {
  /** The stages from the outside in. */
  stages: string[];
  index?: string;
  direction?: string;
  keys: number;
  docs: number;
  returned: number;
}

export async function explain(engine: Engine, command: Document): Promise<Explained> {
  const reply = await runCommand(engine, { explain: command, verbosity: 'executionStats' });
  const planned = ((reply.stages as Document[] | undefined)?.[0]?.$cursor as Document | undefined) ?? reply;
  const planner = planned.queryPlanner as { winningPlan: Document };
  const stats = planned.executionStats as Record<string, number>;
  const stages: string[] = [];
  let last: Document = planner.winningPlan;
  for (
    let stage: Document | undefined = last;
    stage;
    stage = (stage.inputStage ?? (stage.inputStages as Document[] | undefined)?.[0]) as Document | undefined
  ) {
    stages.push(String(stage.stage));
    last = stage;
  }
  return {
    stages,
    index: last.indexName as string | undefined,
    direction: last.direction as string | undefined,
    keys: Number(stats.totalKeysExamined),
    docs: Number(stats.totalDocsExamined),
    returned: Number(stats.nReturned),
  };
}

/** 1,000 messages of 10 rooms; `tags` makes one index multikey, every fifth has a clientId, some are deleted. */
export async function messages(): Promise<Engine> {
  const engine = buildEngine();
  const documents = Array.from({ length: 1000 }, (_, i) => ({
    _id: i,
    room: i % 10,
    seq: Math.floor(i / 10),
    sender: i % 3,
    tags: [`t${i % 4}`, `u${i % 5}`],
    ...(i % 5 === 0 ? { clientId: `c${i}` } : {}),
    ...(i % 100 === 0 ? { deletedAt: new Date(i) } : {}),
  }));
  await runCommand(engine, { insert: 'm', documents });
  await runCommand(engine, {
    createIndexes: 'm',
    indexes: [
      { key: { room: 1, seq: 1 }, name: 'room_seq', unique: true },
      { key: { sender: 1, seq: -1 }, name: 'sender_seq' },
      { key: { tags: 1 }, name: 'tags' },
      {
        key: { room: 1, sender: 1, clientId: 1 },
        name: 'client',
        unique: true,
        partialFilterExpression: { clientId: { $exists: true } },
      },
      { key: { deletedAt: 1 }, name: 'deleted', sparse: true },
    ],
  });
  return engine;
}
