/** Time before reconnecting, ms, unless the server sets another. */
const RETRY_MS = 3_000;

async function* linesOf(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + value).split(/\r?\n/);
    rest = lines.pop();
    yield* lines;
  }
}

/** Reads a stream event by event: the part of the format (HTML Standard, section 9.2) that the service uses. */
async function readEvents(body, onEvent, onRetry) {
  let event = { id: '', data: '' };
  for await (const line of linesOf(body)) {
    if (line === '') {
      if (event.data) onEvent(event);
      event = { id: '', data: '' };
    }
    const [, field, text] = /^(\w+): ?(.*)$/.exec(line) ?? [];
    if (field === 'id' || field === 'data') event[field] = text;
    else if (field === 'retry') onRetry(Number(text));
  }
}

/**
 * Keeps a member's event stream open, with fetch: an EventSource cannot send the Authorization header.
 *
 * @param token returns the access token, a fresh one after `expired`
 * @param listener `notification(record)`, `state('connecting' | 'open')`, `expired()` (awaited)
 * @returns a function that closes it
 */
export function openEventStream(token, listener) {
  const abort = new AbortController();
  let lastId = '';
  let retry = RETRY_MS;

  async function connectOnce() {
    const answer = await fetch('/notification/connect', {
      headers: {
        Authorization: token(),
        Accept: 'text/event-stream',
        ...(lastId ? { 'Last-Event-ID': lastId } : {}),
      },
      signal: abort.signal,
    });
    if (answer.status === 401) await listener.expired();
    if (!answer.ok) return;
    listener.state('open');
    await readEvents(
      answer.body,
      ({ id, data }) => {
        lastId = id || lastId;
        if (data.startsWith('{')) listener.notification(JSON.parse(data));
      },
      (ms) => {
        retry = ms;
      },
    );
  }

  async function keepOpen() {
    while (!abort.signal.aborted) {
      listener.state('connecting');
      try {
        await connectOnce();
      } catch (error) {
        if (abort.signal.aborted) return;
        console.info('The event stream was cut and is opened again.', error.message);
      }
      await new Promise((resolve) => setTimeout(resolve, retry));
    }
  }

  void keepOpen();
  return () => abort.abort();
}
