import type { AppError } from '../../kernel/errors.js';
import type { Config } from '../settings/config.js';
import type { Logger } from './logger.js';
import { metrics } from './metrics.js';

/** Logs a request or a socket event in one line, if LOG_REQUESTS selects it. */
export class RequestLog {
  readonly #logger: Logger;
  readonly #wanted: Config['LOG_REQUESTS'];

  constructor(logger: Logger, wanted: Config['LOG_REQUESTS']) {
    this.#logger = logger;
    this.#wanted = wanted;
  }

  /**
   * A failure of the service is logged in any case, others as LOG_REQUESTS says.
   *
   * @param describe the line's fields, with the id of the request or socket
   * @param failure why the answer is an error
   */
  answered(status: number, describe: () => object, failure?: AppError): void {
    if (failure?.status === 500) {
      metrics.unexpectedErrors.inc();
      this.#logger.error({ ...describe(), err: failure.cause ?? failure }, failure.code);
    } else if (failure?.status === 503) {
      // An unreachable backend is not this process's fault, and each probe would repeat the error.
      this.#logger.warn({ ...describe(), err: failure.cause ?? failure }, failure.code);
    } else if (this.#wants(status)) this.#logger.info(describe(), 'request');
  }

  #wants(status: number): boolean {
    const wanted = this.#wanted;
    if (wanted === 'off') return false;
    if (typeof wanted === 'number') return Math.random() < wanted;
    return wanted === 'all' || status >= 400;
  }
}
