import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect } from 'chai';
import { projectRoot } from '../../../domain/platform/process/project-root.js';
import { shellBlocks } from '../../documents/shell-blocks.js';
import { endWithTests, startProgram } from '../../support/child-process.js';
import { eventually } from '../../support/eventually.js';

/** Time for the commands of a block, ms. */
const BLOCK_MS = 120_000;

/** Without files of settings, which no two machines have the same of. What this shell, macOS's, understands, bash does, too. */
const ZSH = 'zsh -f -i';
const hasZsh = spawnSync('zsh', ['--version']).status === 0;

/** util-linux' program that runs a command in a terminal. */
const hasTerminal = spawnSync('script', ['--version']).stdout?.includes('util-linux') ?? false;

/** What a shell says that read something else than was meant. */
const MISREAD =
  /command not found|no matches found|event not found|parse error|syntax error|unexpected token|unmatched/i;

describe('the README’s walk-through, pasted into a terminal', () => {
  let folder: string;
  let service: ReturnType<typeof startProgram>;
  /** The blocks behind the first, which installs and starts, with the service's addresses. */
  let blocks: string[];

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'adoption-walk-'));
    const env = { NODE_ENV: 'test', DATA_DIR: folder, HTTP_PORT: '0', GATEWAY_PORT: '0', LOG_LEVEL: 'error' };
    service = startProgram({ path: 'scripts/start.js', folder, env });
    const ports = await eventually(() => {
      const found = [...service.output.text.matchAll(/http:\/\/127\.0\.0\.1:(\d+)/g)].map(([, port]) => port);
      const different = [...new Set(found)];
      if (different.length < 2) throw new Error(service.output.text);
      return different;
    }, 60_000);
    const [start, ...others] = shellBlocks('README.md').filter((block) => !block.startsWith('git '));
    expect(start).to.equal('npm ci\nnpm start\n');
    blocks = others.map((block) =>
      block
        .replaceAll('127.0.0.1:8080', `127.0.0.1:${ports[0]}`)
        .replaceAll('127.0.0.1:8081', `127.0.0.1:${ports[1]}`)
        .replaceAll('/tmp/', `${folder}/`),
    );
  });

  after(async () => {
    service.child.kill('SIGTERM');
    if (service.child.exitCode === null) await once(service.child, 'exit');
    rmSync(folder, { recursive: true, force: true });
  });

  /** Pastes blocks. @returns what each shows */
  async function paste(): Promise<string[]> {
    const { PATH, HOME = folder } = process.env;
    const terminal: ChildProcess = spawn('script', ['-qec', ZSH, '/dev/null'], {
      cwd: projectRoot(),
      env: {
        PATH,
        HOME,
        DATA_DIR: folder,
        NODE_ENV: 'test',
        TERM: 'xterm',
        HISTFILE: '/dev/null',
        LANG: 'C.UTF-8',
      },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    endWithTests(terminal);
    let shown = '';
    terminal.stdout?.setEncoding('utf8').on('data', (text: string) => {
      shown += text;
    });
    const outputs: string[] = [];
    try {
      for (const [i, block] of blocks.entries()) {
        const from = shown.length;
        // The shell joins what the terminal shows apart while it is typed.
        terminal.stdin?.write(`${block}echo do""ne-${i}\n`);
        await eventually(
          () => expect(shown.slice(from)).to.match(new RegExp(`^\\r?done-${i}\\r?$`, 'm')),
          BLOCK_MS,
        );
        outputs.push(stripVTControlCharacters(shown.slice(from)).replaceAll('\r', ''));
      }
    } catch (error) {
      throw new Error(`${(error as Error).message}\n${shown}`);
    } finally {
      terminal.stdin?.end('exit\n');
      if (terminal.exitCode === null) await once(terminal, 'exit');
    }
    return outputs;
  }

  it('works in zsh', async function () {
    if (!hasZsh || !hasTerminal) this.skip();
    const [members = '', room = '', push = '', socket = '', ...more] = await paste();
    expect(more).to.deep.equal([]);
    const all = members + room + push + socket;
    expect(all).not.to.match(MISREAD);
    expect(members)
      .to.include('"hot":')
      .and.to.match(/^\[\]$/m);
    expect(room).to.match(/adoption posts +1 created, 0 updated, 0 unchanged/);
    expect(push).to.match(/"content":"Is Mimi still there\?"/);
    expect(socket).to.match(/^missed: \[[^\]]*'Is Mimi still there\?'/m);
    expect(socket).to.match(/^sent: 200 \d+$/m);
    expect(socket).to.match(/"content":"Yes, come and see her!"/);
    // The notification on the event stream, which is open in the background.
    expect(push + socket).to.match(/^data: ?\{.*Mimi/m);
  }).timeout(4 * BLOCK_MS);
});
