import type { TcpProxy } from '../command/tcp-proxy.js';
import type { ManagedProcess, ProcessGroup } from '../load/process-group.js';

/** What a proxy can be told, as described in TcpProxy. */
type Act = keyof Pick<TcpProxy, 'silence' | 'cut' | 'refuse' | 'restore'>;

/** To the process of the proxies: starts one to a port, answered with its own port, or tells one what to do. */
export type ProxyCommand = { target: number } | { port: number; act: Act };

/** A TCP proxy in the process of proxies. */
export interface FaultyProxy {
  readonly port: number;
  /** Resolves when it is done. */
  tell(act: Act): Promise<void>;
}

/** Proxies on loopback, in a process of the group. */
export class Proxies {
  readonly #process: ManagedProcess;

  private constructor(process: ManagedProcess) {
    this.#process = process;
  }

  /** @throws Error if the process does not start; GroupEnded */
  static async open(group: ProcessGroup): Promise<Proxies> {
    const process = group.fork('proxies', 'prove/proxy-process.js');
    await process.message();
    return new Proxies(process);
  }

  /** @param target port on this machine */
  async start(target: number): Promise<FaultyProxy> {
    const send = <T>(command: ProxyCommand) => this.#process.request<T>(command);
    const port = await send<number>({ target });
    return { port, tell: (act) => send({ port, act }) };
  }

  /** Rejects when their process exits: from then on the service loses Redis without a fault in the history. */
  async failure(): Promise<never> {
    await this.#process.exit();
    throw new Error(`the process of the proxies exited: ${this.#process.stderr}`);
  }
}
