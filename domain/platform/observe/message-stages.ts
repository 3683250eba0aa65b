import { metrics } from './metrics.js';

/** Where the time of a message goes, in order: each stage begins where the one before it ends. */
export type MessageStage = 'receive' | 'queue' | 'insert' | 'publish' | 'sequence' | 'write';

/** Measures the stages of one message. */
export class MessageStages {
  /** When the current stage began, by performance.now(). */
  #since: number;

  constructor(receivedAt: number) {
    this.#since = receivedAt;
  }

  end(stage: MessageStage): void {
    const now = performance.now();
    metrics.messageStages.observe({ stage }, (now - this.#since) / 1_000);
    this.#since = now;
  }

  /** To be called once it is published: uWebSockets.js writes before the next turn of the event loop. */
  endWhenWritten(): void {
    setImmediate(() => setImmediate(() => this.end('write')));
  }
}

let isMeasuring = false;
const ofPayloads = new WeakMap<object, MessageStages>();

/** With MESSAGE_STAGES=on: measures the messages that are received from now on. */
export function measureStages(setting: 'on' | 'off'): void {
  isMeasuring = setting === 'on';
}

/** The stages of a message, if they are measured. @param receivedAt by performance.now() */
export function beginStages(receivedAt: number): MessageStages | undefined {
  return isMeasuring ? new MessageStages(receivedAt) : undefined;
}

/** Notes what a message has become, for `stagesOf`: ports and adapters pass the payload on, and nothing else. */
export function noteStages(payload: object, stages: MessageStages): void {
  ofPayloads.set(payload, stages);
}

/** The stages of a payload that this process has made, if they are measured. */
export function stagesOf(payload: object): MessageStages | undefined {
  return isMeasuring ? ofPayloads.get(payload) : undefined;
}
