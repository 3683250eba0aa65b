import type { ClusterMembers, ClusterRoom } from '../../support/cluster-members.js';
import { type ChatClient, createChatClient } from './chat-client.js';
import type { Checker } from './checker.js';

/** Members who go on writing to each other while a test does something to the processes. */
export interface Load {
  clients: ChatClient[];
  rooms: ClusterRoom[];
  /** Ends the writing; resolves when everything asked has been acknowledged. */
  finish(): Promise<void>;
  /** Finishes, checks every room from `gateway`, and closes the clients. */
  verify(gateway: string): Promise<void>;
  close(): void;
}

/**
 * @param rooms how many rooms; two members write to each
 * @param address the gateway of a client, told its number; asked at each attempt to connect
 * @param pauseMs rest of a writer between two messages, in ms
 */
export async function startLoad(
  cluster: Pick<ClusterMembers, 'openRoom'>,
  checker: Checker,
  rooms: number,
  address: (client: number) => string,
  pauseMs = 20,
): Promise<Load> {
  const load: Load['rooms'] = [];
  const clients: ChatClient[] = [];
  for (let i = 0; i < rooms; i += 1) {
    const room = await cluster.openRoom();
    load.push(room);
    for (const who of [room.author, room.asker]) {
      const number = clients.length;
      clients.push(createChatClient(`client ${number}`, who, () => address(number), checker));
    }
  }
  await Promise.all(clients.map((client, i) => client.enter(load[i >> 1]?.chatNo as number)));
  let writing = true;
  const writers = clients.map(async (client, i) => {
    while (writing) {
      await client.send(load[i >> 1]?.chatNo as number);
      // As fast a writer as there is, but one who lets the machine do other things.
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  });
  // Who awaits `finish` learns of a failure; until then it must not end the tests.
  for (const writer of writers) writer.catch(() => undefined);

  async function finish(): Promise<void> {
    writing = false;
    await Promise.all(writers);
  }
  function close(): void {
    writing = false;
    for (const client of clients) client.close();
  }
  return {
    clients,
    rooms: load,
    finish,
    close,
    async verify(gateway) {
      await finish();
      await Promise.all(load.map((room) => checker.verify(room, gateway)));
      close();
    },
  };
}
