import { readFileSync } from 'node:fs';

/** Files that a process has open beside its connections: database, Redis, libraries. */
const OTHER_FILES = 200;

/** The most connections that this machine opens to one address, and what sets that limit. */
export interface Most {
  count: number;
  why: string;
}

/** @param ports content of /proc/sys/net/ipv4/ip_local_port_range @param limits of /proc/self/limits */
export function mostOf(ports: string, limits: string): Most {
  const [first = 0, last = 0] = ports.trim().split(/\s+/).map(Number);
  const local = last - first + 1;
  const files = Number(/^Max open files\s+\d+\s+(\d+)/m.exec(limits)?.[1] ?? local) - OTHER_FILES;
  return files < local
    ? { count: files, why: `open files of a process (${files + OTHER_FILES})` }
    : { count: local, why: `the clients' local ports (${local})` };
}

export function mostConnections(): Most {
  return mostOf(
    readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8'),
    readFileSync('/proc/self/limits', 'utf8'),
  );
}
