import { EventEmitter } from 'node:events';
import type { Delivery } from '../../../domain/notifications/index.js';
import { nextTurn } from '../../support/eventually.js';

/** A response that keeps what is written to it, and closes as soon as it has ended. */
export class FakeResponse extends EventEmitter {
  text = '';
  destroyed = false;
  writableLength = 0;
  writableNeedDrain = false;
  isEnded = false;
  writeHead(): this {
    return this;
  }
  getHeader(): undefined {}
  write(text: string): void {
    this.text += text;
  }
  end(text = ''): void {
    this.text += text;
    this.isEnded = true;
    this.emit('close');
  }
  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
  /** Numbers of the events, except the first. */
  get numbers(): number[] {
    return [...this.text.matchAll(/^id: \d+_(\d+)$/gm)].slice(1).map((match) => Number(match[1]));
  }
}

/** The notifications of one member, in a database that counts its reads. */
export class FakeNotifications {
  /** Resolves when subscriptions stand. */
  ready = Promise.resolve();
  /** Subscriptions that have not ended. */
  subscribed = 0;
  history: Delivery[] = [];
  /** Pages read; a thousand would be an endless loop. */
  reads = 0;
  isAway = false;
  /** Delivers to the latest subscription. */
  deliver: (delivery: Delivery) => void = () => {};

  subscribe(_: number, listener: (delivery: Delivery) => void) {
    this.subscribed += 1;
    this.deliver = listener;
    return {
      ready: this.ready,
      end: () => {
        this.subscribed -= 1;
      },
    };
  }

  async *replayAfter(_: number, after: number) {
    if (this.isAway || ++this.reads > 1_000) throw new Error('the database is away');
    const found = this.history.filter(({ n }) => n > after);
    await nextTurn();
    yield found.slice(0, 2);
    if (found.length <= 2) return;
    this.reads += 1;
    yield found.slice(2);
  }
}
