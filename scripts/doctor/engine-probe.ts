import { App, us_listen_socket_close, us_socket_local_port } from 'uWebSockets.js';
import { statusInPieces } from './split-request.js';

// A process of its own, which a bad binary may end. Prints how uWebSockets.js answers a request that arrives in pieces.
const listening = await new Promise<Parameters<typeof us_listen_socket_close>[0]>((resolve, reject) => {
  App()
    .get('/*', (response) => {
      response.end();
    })
    .listen('127.0.0.1', 0, (socket) => {
      if (socket) resolve(socket);
      else reject(new Error('Error: uWebSockets.js cannot listen'));
    });
});
process.stdout.write(
  String(await statusInPieces(new URL(`http://127.0.0.1:${us_socket_local_port(listening)}/`))),
);
us_listen_socket_close(listening);
