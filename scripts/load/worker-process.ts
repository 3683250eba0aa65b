import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Runs in the child processes of `ProcessGroup.start`. */

/** Reports that this process is ready, and ends it with the load test. @param port where it listens; 0 if nowhere */
export function reportReady(port = 0): void {
  process.on('disconnect', () => process.exit(0));
  process.on('SIGTERM', () => process.exit(0));
  process.send?.({ port });
}

/** Listens on a free port, and reports it. */
export function listen(server: Server): void {
  server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () =>
    reportReady((server.address() as AddressInfo).port),
  );
}

/** Answers each `ManagedProcess.request` with what `handle` resolves to, or with the message of its error. */
export function handleCommands<C>(handle: (command: C) => unknown): void {
  process.on('message', async ({ id, command }: { id: number; command: C }) => {
    try {
      process.send?.({ id, value: await handle(command) });
    } catch (error) {
      process.send?.({ id, error: (error as Error).message });
    }
  });
}
