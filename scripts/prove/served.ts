/** Which interface a process serves. */
export type Door = 'http' | 'gateway';

/** Where a process of the service is reached; of an installation that runs already, all processes of a kind. */
export interface Served {
  /** As in the history: `http-0`, `gateway-2`; `http` and `gateway` of an installation that runs already. */
  name: string;
  door: Door;
  base: string;
  /** Another way to the process, on which packets may get lost. */
  detour?: string;
}
