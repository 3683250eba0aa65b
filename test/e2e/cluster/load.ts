import type { ClusterMembers, ClusterRoom } from '../../support/cluster-members.js';
import { sleep } from '../../support/eventually.js';
import { type ChatClient, createChatClient } from './chat-client.js';
import { type Checker, createChecker } from './checker.js';

/** Members who write to each other while a test does something to the processes. */
export interface Load {
  clients: ChatClient[];
  rooms: ClusterRoom[];
  /** Ends the writing; resolves when every message sent is acknowledged. */
  finish(): Promise<void>;
  /** Finishes, checks every room on `gateway`, and closes the clients. */
  verify(gateway: string): Promise<void>;
  close(): void;
}

/**
 * @param rooms number of rooms; two members write in each
 * @param address the gateway for a client, by the client's number; called at each attempt to connect
 * @param pauseMs pause of a writer between two messages
 */
export async function startLoad(
  cluster: Pick<ClusterMembers, 'openRoom'>,
  checker: Checker,
  rooms: number,
  address: (client: number) => string,
  pauseMs = 20,
): Promise<Load> {
  const opened: ClusterRoom[] = [];
  for (let i = 0; i < rooms; i += 1) opened.push(await cluster.openRoom());
  const writers = opened.flatMap(({ author, asker, chatNo }) => [
    { who: author, chatNo },
    { who: asker, chatNo },
  ]);
  const clients = writers.map(({ who }, i) =>
    createChatClient(`client ${i}`, who, () => address(i), checker),
  );
  await Promise.all(clients.map((client, i) => client.enter(writers[i]?.chatNo as number)));
  let writing = true;
  const written = clients.map(async (client, i) => {
    while (writing) {
      await client.send(writers[i]?.chatNo as number);
      await sleep(pauseMs);
    }
  });
  // `finish` reports a failure; until then it must not end the tests.
  for (const writer of written) writer.catch(() => undefined);

  async function finish(): Promise<void> {
    writing = false;
    await Promise.all(written);
  }
  function close(): void {
    writing = false;
    for (const client of clients) client.close();
  }
  return {
    clients,
    rooms: opened,
    finish,
    close,
    async verify(gateway) {
      await finish();
      await Promise.all(opened.map((room) => checker.verify(room, gateway)));
      close();
    },
  };
}

/** The chat clients of a suite: one checker for each test, and all clients closed after it. */
export interface ChatClients {
  readonly checker: Checker;
  /** @param address the gateway, called at each attempt to connect */
  open(name: string, who: ChatClient['who'], address: () => string): ChatClient;
  startLoad(
    cluster: Pick<ClusterMembers, 'openRoom'>,
    rooms: number,
    address: (client: number) => string,
  ): Promise<Load>;
}

/** Registers the hooks of a suite. */
export function useChatClients(): ChatClients {
  const open: { close(): void }[] = [];
  let checker = createChecker();
  function closeAfter<T extends { close(): void }>(one: T): T {
    open.push(one);
    return one;
  }
  afterEach(() => {
    for (const one of open.splice(0)) one.close();
    checker = createChecker();
  });
  return {
    get checker() {
      return checker;
    },
    open: (name, who, address) => closeAfter(createChatClient(name, who, address, checker)),
    startLoad: async (cluster, rooms, address) =>
      closeAfter(await startLoad(cluster, checker, rooms, address)),
  };
}
