/** How long to wait before connecting again until the server says otherwise, in ms. */
const RETRY_MS = 3_000;

/** Reads a stream event by event (HTML Standard, section 9.2), as far as ours go. */
async function readEvents(body, onEvent, onRetry) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  let event = { id: '', data: [] };
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + value).split(/\r?\n/);
    rest = lines.pop();
    for (const line of lines) {
      if (line === '') {
        if (event.data.length > 0) onEvent({ id: event.id, data: event.data.join('\n') });
        event = { id: '', data: [] };
      }
      const [, field, text] = /^(\w+): ?(.*)$/.exec(line) ?? [];
      if (field === 'id') event.id = text;
      else if (field === 'data') event.data.push(text);
      else if (field === 'retry') onRetry(Number(text));
    }
  }
}

/**
 * Keeps a member's event stream open. By fetch, because an EventSource cannot send the Authorization
 * header; so connecting again with the last id is done here too.
 *
 * @param token gives the access token, a fresh one after `expired` was reported
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
        console.info('The event stream broke off and is opened again.', error.message);
      }
      await new Promise((resolve) => setTimeout(resolve, retry));
    }
  }

  void keepOpen();
  return () => abort.abort();
}
