import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

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

/** Names under which a system has it. */
const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** Path of an installed browser, or undefined. */
function findChromium(path = process.env.PATH ?? ''): string | undefined {
  return [...path.split(delimiter), '/usr/bin']
    .flatMap((folder) => NAMES.map((name) => join(folder, name)))
    .find((candidate) => existsSync(candidate));
}

/** Starts it; the test is pending where there is none, which fails a run with CI=true. */
export async function launchChromium(test: Mocha.Context): Promise<Browser> {
  const executablePath = findChromium();
  if (!executablePath) return test.skip();
  return chromium.launch({ executablePath, args: ARGUMENTS, headless: true });
}

/** A page that keeps what should not have happened on it. */
export interface WatchedPage {
  page: Page;
  /** Errors and warnings of the console, and what scripts threw. */
  complaints: string[];
  /** Addresses of other hosts that were asked for anything. */
  foreign: string[];
}

/** @param hosts names of hosts that the page may ask */
export async function openPage(
  browser: Browser,
  hosts: string[],
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const page = await browser.newPage(options);
  const complaints: string[] = [];
  const foreign: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  const note = (address: string) => {
    const { hostname, protocol } = new URL(address);
    if (protocol !== 'data:' && !hosts.includes(hostname)) foreign.push(address);
  };
  page.on('request', (request) => note(request.url()));
  page.on('websocket', (socket) => note(socket.url()));
  return { page, complaints, foreign };
}
