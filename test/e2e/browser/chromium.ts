import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';

/** Nothing of the browser's own may go to the network, and it may run as root in a container. */
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Names of its executable. */
const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** Path of an installed browser, or undefined. */
function findChromium(): string | undefined {
  return [...(process.env.PATH ?? '').split(delimiter), '/usr/bin']
    .flatMap((folder) => NAMES.map((name) => join(folder, name)))
    .find((candidate) => existsSync(candidate));
}

/** Starts the browser; without one the test is pending, which fails a run with CI=true. */
export async function launchChromium(test: Mocha.Context): Promise<Browser> {
  const executablePath = findChromium();
  if (!executablePath) return test.skip();
  return chromium.launch({ executablePath, args: ARGUMENTS, headless: true });
}

/** A page that records errors and foreign requests. */
export interface WatchedPage {
  page: Page;
  /** Errors and warnings of the console, and uncaught exceptions. */
  consoleErrors: string[];
  /** Addresses requested from other hosts. */
  foreign: string[];
}

export async function openPage(
  browser: Browser,
  viewport: { width: number; height: number },
): Promise<WatchedPage> {
  const page = await browser.newPage({ viewport });
  const consoleErrors: string[] = [];
  const foreign: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) consoleErrors.push(message.text());
  });
  page.on('pageerror', (error) => consoleErrors.push(error.message));
  const note = (address: string) => {
    const { hostname, protocol } = new URL(address);
    if (protocol !== 'data:' && hostname !== '127.0.0.1') foreign.push(address);
  };
  page.on('request', (request) => note(request.url()));
  page.on('websocket', (socket) => note(socket.url()));
  return { page, consoleErrors, foreign };
}
