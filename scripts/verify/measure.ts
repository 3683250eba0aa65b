import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import mongoose, { type mongo } from 'mongoose';
import { z } from 'zod';
// Defines the models, whose indexes are built.
import '../../domain/checks.js';
import { openEmbeddedMongo } from 'embedded-mongo';
import { makeDataFolder } from 'embedded-mongo/data-folder';
import { holdOwner } from 'embedded-mongo/lock';
import { connectMongo, disconnectMongo } from '../../domain/platform/mongo/connection.js';
import { prepareDatabase } from '../../domain/platform/mongo/migrate.js';
import { checkArguments, readArguments } from '../command/read-arguments.js';
import { runCommand } from '../command/run-command.js';
import { cpuMicros, privateBytes } from '../load/process-figures.js';

const usage = `Usage: node dist/scripts/verify/measure.js [options]

Fills an embedded database of its own with records that agree, and prints what npm run verify takes for them: time,
CPU time, and the most memory of the command and of the database (Linux only).

  --messages N        default 1000000
  --rooms N           among which they are divided (default 1000)
  --notifications N   default 200000
  --hearts N          of 500 articles (default 100000)`;

const whole = z.coerce.number('must be a number').int('must be whole').min(1, 'must be at least 1');
const schema = z.object({
  messages: whole.default(1_000_000),
  rooms: whole.default(1_000),
  notifications: whole.default(200_000),
  hearts: whole.default(100_000),
});
type Sizes = z.infer<typeof schema>;

const BATCH = 10_000;
const ARTICLES = 500;

/** Inserts the records of a collection in batches. */
async function fill(name: string, count: number, record: (i: number) => object): Promise<void> {
  const collection = mongoose.connection.collection(name);
  for (let from = 0; from < count; from += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, count - from) }, (_, i) => record(from + i));
    await collection.insertMany(batch as mongo.OptionalId<mongo.BSON.Document>[], { ordered: false });
  }
}

/** Messages of which each side has read all; both write in turn. */
async function fillAll({ messages, rooms, notifications, hearts }: Sizes): Promise<void> {
  const now = new Date();
  const perRoom = Math.ceil(messages / rooms);
  const nobody = { seq: 0, others: 0 };
  await fill('rooms', rooms, (i) => ({
    ...{ _id: i + 1, saleNo: i + 1, creator: 1, joiner: 2, createdAt: now },
    read: { creator: nobody, joiner: nobody },
  }));
  await fill('messages', messages, (i) => {
    const seq = (i % perRoom) + 1;
    const sent = { creator: Math.ceil(seq / 2), joiner: Math.floor(seq / 2) };
    const read = { creator: { seq, others: sent.joiner }, joiner: { seq, others: sent.creator } };
    return {
      ...{ _id: `message ${String(i).padStart(9, '0')}`, chatNo: Math.floor(i / perRoom) + 1, seq },
      ...{
        senderNo: seq % 2 === 1 ? 1 : 2,
        contentType: 'text',
        content: 'Is she still there?',
        sentAt: now,
      },
      ...{ sent, read },
    };
  });
  await fill('notifications', notifications, (i) => ({
    ...{ _id: i + 1, memberNo: 1 + Math.floor(i / 100), n: (i % 100) + 1, cause: `cause ${i}` },
    ...{
      type: 'note',
      content: 'Hi',
      url: '/',
      originNo: 0,
      publishedAt: now,
      checked: false,
      deleted: false,
    },
  }));
  const perArticle = Math.floor(hearts / ARTICLES);
  await fill('hearts', perArticle * ARTICLES, (i) => {
    const id = (i % ARTICLES) + 1;
    return {
      target: 'article',
      id,
      articleId: id,
      memberNo: Math.floor(i / ARTICLES),
      on: true,
      at: now,
      turn: 1,
    };
  });
  await fill('articles', ARTICLES, (i) => ({
    ...{ _id: i + 1, authorNo: 1, state: 'live', hearts: perArticle, heartsVersion: 0 },
    ...{ comments: 0, commentsVersion: 0 },
  }));
  const sequences = { room: rooms, notification: notifications, article: ARTICLES };
  for (const [name, value] of Object.entries(sequences))
    await mongoose.connection
      .collection<{ _id: string }>('sequences')
      .updateOne({ _id: name }, { $set: { value } }, { upsert: true });
}

/** What a process used while it was watched: CPU time, s, and the most memory of its own, MiB. */
function watchProcess(pid: number) {
  const before = cpuMicros(pid);
  const used = { cpuSeconds: 0, peakMib: 0 };
  const timer = setInterval(() => {
    used.cpuSeconds = Number(((cpuMicros(pid) - before) / 1e6).toFixed(1));
    used.peakMib = Math.max(used.peakMib, Math.round(privateBytes(pid) / 2 ** 20));
  }, 100);
  return {
    used,
    stop: () => clearInterval(timer),
  };
}

/** Runs the command on a database. @returns what it printed, and what it and the database took */
async function runVerify(uri: string, folder: string, databasePid: number) {
  const began = performance.now();
  const child = spawn(process.execPath, [fileURLToPath(new URL('../verify.js', import.meta.url))], {
    env: { PATH: process.env.PATH, DATA_DIR: folder, MONGODB_URI: uri },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout.on('data', (text) => {
    printed += text;
  });
  const [command, database] = [watchProcess(child.pid as number), watchProcess(databasePid)];
  child.once('exit', () => {
    command.stop();
    database.stop();
  });
  const [status] = await once(child, 'close');
  const seconds = Number(((performance.now() - began) / 1_000).toFixed(1));
  return { status, printed: printed.trim(), seconds, command: command.used, database: database.used };
}

await runCommand(usage, async (args) => {
  const option = { type: 'string' } as const;
  const options = { messages: option, rooms: option, notifications: option, hearts: option };
  const sizes = checkArguments(schema, readArguments({ args, options }).values);
  const folder = mkdtempSync(join(tmpdir(), 'adoption-verify-'));
  const database = await openEmbeddedMongo(folder, { database: 'adoption' });
  try {
    await connectMongo(database.uri);
    await prepareDatabase(database.uri, 'finish', () => {});
    await fillAll(sizes);
    await disconnectMongo();
    const owner = await holdOwner(makeDataFolder(folder));
    if (!owner) throw new Error('the database has ended');
    const run = await runVerify(database.uri, folder, owner.pid);
    await owner.release();
    process.stdout.write(`${JSON.stringify({ ...sizes, ...run })}\n`);
    return run.status;
  } finally {
    await disconnectMongo();
    await database.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
