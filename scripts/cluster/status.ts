import pc from 'picocolors';
import { loadConfig } from '../../domain/platform/config.js';
import { connectManager, isRunning, type Managed } from './manager.js';
import { findOrphans } from './orphans.js';
import { placesOf } from './places.js';

const COLUMNS = ['name', 'id', 'pid', 'state', 'restarts', 'memory', 'uptime'] as const;

/** The two largest units of a span: `3d 4h`, `12m 5s`. */
function formatSpan(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  const units: [string, number][] = [
    ['d', Math.floor(seconds / 86_400)],
    ['h', Math.floor(seconds / 3_600) % 24],
    ['m', Math.floor(seconds / 60) % 60],
    ['s', seconds % 60],
  ];
  const first = units.findIndex(([, count]) => count > 0);
  const shown = units.slice(first < 0 ? 3 : first, (first < 0 ? 3 : first) + 2);
  return shown.map(([unit, count]) => `${count}${unit}`).join(' ');
}

function row(one: Managed, now: number): string[] {
  const up = one.state === 'online' ? formatSpan(now - one.since) : '-';
  const memory = one.memory > 0 ? `${(one.memory / 1024 / 1024).toFixed(1)} MiB` : '-';
  return [one.name, String(one.id), String(one.pid || '-'), one.state, String(one.restarts), memory, up];
}

/** The processes as a table, a line each. */
function formatTable(all: Managed[], now: number): string {
  const rows = all.map((one) => row(one, now));
  const widths = COLUMNS.map((name, i) =>
    Math.max(name.length, ...rows.map((cells) => cells[i]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) => cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  ');
  const body = rows.map((cells) => {
    const text = line(cells).trimEnd();
    return cells[3] === 'online' ? text : pc.yellow(text);
  });
  return [pc.bold(line(COLUMNS).trimEnd()), ...body].join('\n');
}

/** `npm run cluster -- status`: exit status 0 when every process is online, 1 when not, 3 when none runs. */
export async function showStatus(): Promise<number> {
  const places = placesOf(loadConfig());
  if (!(await isRunning(places))) {
    const orphans = findOrphans(places);
    process.stdout.write(
      orphans.length > 0
        ? `pm2 is gone, its processes are not (${orphans.join(', ')}): npm run cluster -- stop\n`
        : `No cluster of ${places.dataDir} runs.\n`,
    );
    return 3;
  }
  const manager = await connectManager(places);
  try {
    const all = await manager.list();
    process.stdout.write(`${formatTable(all, Date.now())}\n`);
    return all.length > 0 && all.every(({ state }) => state === 'online') ? 0 : 1;
  } finally {
    await manager.disconnect();
  }
}
