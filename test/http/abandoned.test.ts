import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { endAbandoned } from '../../domain/platform/process/abandoned-requests.js';

const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

describe('requests behind one that is not answered yet', () => {
  const server = createServer();
  let client: Socket;
  before(async () => {
    endAbandoned(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(() => server.close());
  afterEach(() => client.destroy());

  /** Sends requests at once. @returns the server's side of the connection once all have arrived */
  async function send(count: number, handle: RequestListener): Promise<Socket> {
    let left = count;
    const arrived = new Promise<Socket>((resolve) => {
      server.on('request', function each(req, res) {
        handle(req, res);
        left -= 1;
        if (left > 0) return;
        server.off('request', each);
        resolve(req.socket);
      });
    });
    client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.write(REQUEST.repeat(count));
    return arrived;
  }

  it('write no stack of an error each when their connection ends', async () => {
    const { prepareStackTrace } = Error;
    let written = 0;
    Error.prepareStackTrace = (error) => {
      if ((error as NodeJS.ErrnoException).message === 'aborted') written += 1;
      return String(error);
    };
    try {
      const socket = await send(200, () => {});
      // `once` would reject with the error of the reset connection.
      const closed = new Promise((resolve) => socket.on('close', resolve));
      client.resetAndDestroy();
      await closed;
    } finally {
      if (prepareStackTrace) Error.prepareStackTrace = prepareStackTrace;
      else Reflect.deleteProperty(Error, 'prepareStackTrace');
    }
    expect(written).to.equal(1);
  });

  it('are answered in their order while it stays', async () => {
    let number = 0;
    await send(5, (_, res) => void res.end(String(++number)));
    let text = '';
    client.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    while ((text.match(/\r\n\r\n\d/g) ?? []).length < 5) await once(client, 'data');
    expect([...text.matchAll(/\r\n\r\n(\d)/g)].map(([, one]) => one)).to.deep.equal([
      '1',
      '2',
      '3',
      '4',
      '5',
    ]);
  });
});
