/** Pause after which typing counts as ended, ms. */
const PAUSE_MS = 2_000;

/** Notifies a room when its member begins and stops typing. */
export class TypingSender {
  #session;
  #chatNo;
  #timer;

  constructor(session) {
    this.#session = session;
  }

  /** A key was pressed. */
  typed(chatNo) {
    if (this.#timer === undefined) this.#session.tell('typing', { chatNo, typing: true });
    clearTimeout(this.#timer);
    this.#chatNo = chatNo;
    this.#timer = setTimeout(() => this.end(), PAUSE_MS);
  }

  end() {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#session.tell('typing', { chatNo: this.#chatNo, typing: false });
  }
}
