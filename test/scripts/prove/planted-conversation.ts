import { createReadStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { SECRET } from '../../../scripts/load/installation.js';
import { connected } from '../../../scripts/load/seed.js';
import { judge, type Verdict } from '../../../scripts/prove/check/judge.js';
import { RestDoor } from '../../../scripts/prove/clients/rest-door.js';
import { SocketDoor } from '../../../scripts/prove/clients/socket-door.js';
import { StreamDoor } from '../../../scripts/prove/clients/stream-door.js';
import { type Community, emptyCommunity, openCommunity } from '../../../scripts/prove/community.js';
import { readEverything } from '../../../scripts/prove/final-reads.js';
import { writeHeader } from '../../../scripts/prove/header.js';
import type { HistoryLine } from '../../../scripts/prove/history.js';
import { HistoryFile } from '../../../scripts/prove/history-file.js';
import type { Served } from '../../../scripts/prove/served.js';
import { ownToken } from '../../../scripts/prove/target.js';
import { type Account, type Author, storeAccounts } from '../../../scripts/run-accounts/accounts.js';
import { eventually } from '../../support/eventually.js';
import { openDatabase } from '../../support/service.js';
import { startServiceProcess } from '../../support/service-process.js';

/** A history that can be waited for. */
class WatchedHistory extends HistoryFile {
  readonly #lines: Parameters<HistoryFile['write']>[0][] = [];

  override write(line: Parameters<HistoryFile['write']>[0]): void {
    super.write(line);
    this.#lines.push(line);
  }

  /** Resolves when there are so many such lines. */
  async until(times: number, isIt: (line: HistoryLine) => boolean): Promise<void> {
    await eventually(() => {
      const count = this.#lines.filter((line) => isIt(line as HistoryLine)).length;
      if (count < times) throw new Error(`${count} of ${times} lines were written`);
    });
  }
}

const events = { message() {}, drain() {}, closed() {} };

/**
 * Two members of a room talk over a service, by the clients of a run, which record it: each has a stream and a socket in
 * the room.
 */
export class Conversation {
  readonly room: number;
  readonly #history: WatchedHistory;
  readonly #community: Community;
  readonly #servers: [http: Served, gateway: Served];
  readonly #restart: () => Promise<void>;
  readonly #members: Account[];
  readonly #streams: StreamDoor[];
  readonly #sockets: SocketDoor[] = [];
  #messages = 0;

  private constructor(
    history: WatchedHistory,
    community: Community,
    servers: [Served, Served],
    restart: () => Promise<void>,
  ) {
    const [{ room, author, asker }] = community.rooms as [Community['rooms'][0]];
    this.room = room;
    this.#history = history;
    this.#community = community;
    this.#servers = servers;
    this.#restart = restart;
    const others = community.members.filter((one) => one !== author && one !== asker);
    this.#members = [author, asker, ...others];
    const at = () => servers[0];
    this.#streams = [author, asker].map(
      (account, i) => new StreamDoor(history, account, `m${i + 1}.s`, at, (limit) => limit - 1),
    );
  }

  /** Runs one, and judges it. @param build folder of the compiled service @param talk what they do */
  static async judge(
    build: string,
    talk: (conversation: Conversation) => Promise<unknown>,
  ): Promise<Verdict> {
    const folder = mkdtempSync(join(tmpdir(), 'adoption-test-planted-'));
    const file = join(folder, 'history.ndjson');
    const database = await openDatabase(`adoption_planted_${process.pid}`);
    const settings = { MONGODB_URI: database.uri, JWT_SECRET: SECRET, RATE_LIMIT: 'off' };
    const start = () => startServiceProcess(settings, { build });
    const members: Author[] = [];
    await connected(database.uri, () => storeAccounts(members, 'planted', 3, ownToken));
    let running = await start();
    const history = new WatchedHistory(file);
    try {
      const servers: [Served, Served] = [
        { name: 'http', door: 'http', base: running.http },
        { name: 'gateway', door: 'gateway', base: running.gateway },
      ];
      const restart = async () => {
        await running.stop();
        running = await start();
        [servers[0].base, servers[1].base] = [running.http, running.gateway];
      };
      const community = emptyCommunity('planted', members);
      await openCommunity(running.http, community, members);
      await writeHeader(history, servers, community, 1, { faults: 'none' });
      await new Conversation(history, community, servers, restart).#run(talk);
      await history.close();
      return await judge(createInterface({ input: createReadStream(file) }));
    } finally {
      await running.stop();
      await database.close();
      rmSync(folder, { recursive: true });
    }
  }

  async #run(talk: (conversation: Conversation) => Promise<unknown>): Promise<void> {
    const history = this.#history;
    history.write({ e: 'phase', phase: 'traffic' });
    await history.until(2, (line) => line.e === 'ok' && line.f === 'stream');
    for (const who of [0, 1] as const) await this.enter(who, 'a');
    await talk(this);
    history.write({ e: 'phase', phase: 'quiet' });
    history.write({ e: 'phase', phase: 'final' });
    await readEverything(history, this.#community, this.#servers, [], new AbortController().signal);
    history.write({ e: 'phase', phase: 'end' });
    for (const socket of this.#sockets) socket.close();
    await Promise.all(this.#streams.map((stream) => stream.close()));
  }

  /** The REST calls of the first or second member, or of the third, who is not in the room. */
  rest(who: 0 | 1 | 2): RestDoor {
    const account = this.#members[who] as Account;
    return new RestDoor(this.#history, account, `m${who + 1}.r`, () => this.#servers[0]);
  }

  /** The first socket of the first or second member. */
  socket(who: 0 | 1): SocketDoor {
    return this.#sockets[who] as SocketDoor;
  }

  /** An article, and who of the first two has not written it. */
  get article(): { article: number; reader: 0 | 1 } {
    const [{ article, author }] = this.#community.articles as [Community['articles'][0]];
    return { article, reader: author === this.#members[0] ? 1 : 0 };
  }

  /** Enters the room with another socket. */
  async enter(who: 0 | 1, suffix: string): Promise<void> {
    const client = `m${who + 1}.${suffix}`;
    const door = await SocketDoor.open(
      this.#history,
      this.#members[who] as Account,
      client,
      this.#servers[1],
      events,
    );
    if (!door) throw new Error(`${client} was not connected`);
    this.#sockets.push(door);
    await door.join(this.room, 0, () => {});
  }

  /** The second member leaves the room. */
  async leave(): Promise<void> {
    await this.socket(1).leave(this.room);
  }

  /** The first member sends a message. @returns its text */
  async say(): Promise<string> {
    this.#messages += 1;
    const text = `message ${this.#messages}`;
    await this.socket(0).send({ room: this.room, key: text.replace(' ', '-'), content: text });
    return text;
  }

  /** Waits for the notification of a message on the second member's stream. */
  async notified(text: string): Promise<void> {
    await this.#history.until(
      1,
      (line) =>
        line.e === 'delivery' &&
        line.door === 'stream' &&
        line.member === this.#members[1]?.no &&
        line.notification.content === text,
    );
  }

  /**
   * Another member than its author comments on an article.
   * @param parent number of the comment that it answers
   * @returns its number
   */
  async comment(text = 'a comment', parent?: number): Promise<number> {
    const { article, reader } = this.article;
    await this.rest(reader).comment(article, text, parent);
    const { ok } = await this.rest(reader).comments(article);
    return ok?.comments.find(({ content }) => content === text)?.id ?? 0;
  }

  /** The service is stopped and started again. */
  restart(): Promise<void> {
    return this.#restart();
  }
}
