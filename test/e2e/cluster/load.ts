import type { ClusterMembers, ClusterRoom } from '../../support/cluster-members.js';
import { sleep } from '../../support/eventually.js';
import { type ChatClient, createChatClient } from './chat-client.js';
import { type Checker, createChecker } from './checker.js';

export type Load = Awaited<ReturnType<typeof startLoad>>;

/**
 * Starts members who write to each other while a test does something to the processes.
 *
 * @param rooms number of rooms; two members write in each
 * @param address the gateway for a client, by the client's number; called at each attempt to connect
 * @param pauseMs pause of a writer between two messages
 */
export async function startLoad(
  cluster: Pick<ClusterMembers, 'openRoom'>,
  checker: Checker,
  rooms: number,
  address: (client: number) => string,
  pauseMs = 100,
) {
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

  /** Ends the writing; resolves when every message sent is acknowledged. */
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
    /** Finishes, checks every room on a gateway, and closes the clients. */
    async verify(gateway: string): Promise<void> {
      await finish();
      await Promise.all(opened.map((room) => checker.verify(room, gateway)));
      close();
    },
  };
}

/** The chat clients of a suite: registers hooks that give each test a checker, and close all clients after it. */
export function useChatClients() {
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
    /** @param address the gateway, called at each attempt to connect */
    open: (name: string, who: ChatClient['who'], address: () => string) =>
      closeAfter(createChatClient(name, who, address, checker)),
    startLoad: async (
      cluster: Pick<ClusterMembers, 'openRoom'>,
      rooms: number,
      address: (client: number) => string,
    ) => closeAfter(await startLoad(cluster, checker, rooms, address)),
  };
}
