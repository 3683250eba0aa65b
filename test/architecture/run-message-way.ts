import { Session } from 'node:inspector';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { projectRoot } from '../../domain/platform/process/project-root.js';
import { UwsPublisher } from '../../gateway/engine/engine.uws.js';
import { openRoom } from '../support/chat.js';
import { service } from '../support/service.js';
import { connect } from '../support/sockets.js';

/*
 * Sends messages in one process and prints the source files whose functions ran between a sender's frame and
 * the publish to the recipient's socket, by V8's coverage. A process of its own: coverage is counted for all
 * of a process.
 */

/** Sends compared: what a timer runs meanwhile is not part of all. */
const SENDS = 3;

const compiled = `${projectRoot()}/dist`;

const session = new Session();
session.connect();

interface ScriptCoverage {
  url: string;
  functions: { ranges: { count: number }[] }[];
}

/** The files whose functions were called since the last time. */
function calledFiles(): string[] {
  let scripts: ScriptCoverage[] = [];
  // Of its own thread, the inspector answers at once.
  session.post('Profiler.takePreciseCoverage', (error, answer) => {
    if (error) throw error;
    scripts = answer.result;
  });
  return scripts
    .filter(({ functions }) => functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0))
    .filter(({ url }) => url.startsWith('file:'))
    .map(({ url }) => relative(compiled, fileURLToPath(url)).replace(/\.js$/, '.ts'))
    .filter((path) => /^(domain|gateway)\//.test(path));
}

const { asker, author, chatNo } = await openRoom();
const [sender, recipient] = await Promise.all([connect(asker), connect(author)]);
await Promise.all([sender.ask('room:join', { chatNo }), recipient.ask('room:join', { chatNo })]);
const send = (content: string) =>
  sender.ask('message:send', { chatNo, contentType: 'text', content, clientId: content });
await send('first');

let called: string[] = [];
const { event } = UwsPublisher.prototype;
UwsPublisher.prototype.event = function (room, name, payload) {
  event.call(this, room, name, payload);
  if (name === 'message') called = calledFiles();
};
session.post('Profiler.enable');
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
const runs: Set<string>[] = [];
for (let i = 0; i < SENDS; i += 1) {
  await new Promise((resolve) => setTimeout(resolve, 50));
  calledFiles();
  await send(`${i}`);
  runs.push(new Set(called));
}
const [one, ...others] = runs as [Set<string>];
const common = [...one].filter((path) => others.every((other: Set<string>) => other.has(path)));
process.stdout.write(`${JSON.stringify(common)}\n`);
sender.socket.close();
recipient.socket.close();
await (await service()).stop();
