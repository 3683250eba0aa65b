import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { projectRoot } from '../../domain/platform/process/project-root.js';
import { loadConfig } from '../../domain/platform/settings/config.js';
import { mentionsOf, textOf } from './documents.js';

const units = [
  'deploy/adoption-realtime.service',
  'deploy/adoption-gateway@.service',
  'deploy/adoption-http@.service',
];

describe('the units for systemd', () => {
  const hardened = units.map(
    (path) => /^NoNewPrivileges[\s\S]*(?=\n\[Install\])/m.exec(textOf(path))?.[0] ?? '',
  );

  it('confine the service, all alike', () => {
    for (const line of [
      'CapabilityBoundingSet=',
      'SystemCallFilter=@system-service @pkey',
      'ProtectSystem=strict',
    ])
      expect(hardened[0]?.split('\n')).to.include(line);
    expect(new Set(hardened)).to.have.property('size', 1);
  });

  it('are started again for ever: what is missing (a migration, a port) may come later', () => {
    for (const path of units) {
      const [, unit = '', service = ''] =
        /^\[Unit\]\n(.*?)^\[Service\]\n(.*?)^\[Install\]/ms.exec(textOf(path)) ?? [];
      // systemd's default gives up after five starts in 10 s.
      expect(unit.split('\n'), path).to.include('StartLimitIntervalSec=0');
      expect(service, path).to.match(/^Restart=(?:always|on-failure)$/m);
    }
  });

  it('let V8 write machine code', () => {
    for (const path of units) expect(textOf(path)).not.to.match(/^MemoryDenyWriteExecute/m);
  });
});

describe('the images of deploy/', () => {
  const stages = textOf('deploy/Dockerfile').split(/^FROM /m);

  for (const [kind, port] of [
    ['http', 'HTTP_PORT'],
    ['gateway', 'GATEWAY_PORT'],
  ] as const) {
    it(`run one process each, whose health is that of its own port: ${kind}`, () => {
      const stage = stages.find((text) => text.startsWith(`process AS ${kind}\n`)) ?? '';
      const [, program] = /^CMD \[.*"dist\/(.+)\.js"\]$/m.exec(stage) ?? [];
      expect(program).to.equal(`${kind}/main`);
      expect(textOf(`${program}.ts`)).to.include(`runProcess('${kind}'`);
      const check = /HEALTHCHECK[^[]*(\[.*\])/.exec(stage)?.[1] ?? '';
      const [, , script = ''] = JSON.parse(check) as string[];
      expect(script).to.include(`process.env.${port}}/healthz`).and.not.include('pm2');
      expect(Number(/^EXPOSE (\d+)$/m.exec(stage)?.[1])).to.equal(loadConfig({}, '/nonexistent')[port]);
    });
  }

  it('are of the newest Node whose uWebSockets.js binary is in the lockfile, and without pm2', () => {
    const [build = '', ...images] = textOf('deploy/Dockerfile')
      .replaceAll(/^#.*/gm, '')
      .split(/^(?=FROM )/m)
      .slice(1);
    // ABI 127 is Node 22: the image follows when the package has the binary of a newer one.
    const binaries = readdirSync(`${projectRoot()}/node_modules/uWebSockets.js/dist/bin`);
    const newest = Math.max(
      ...binaries.map((name) => Number(/^uws_linux_x64_(\d+)\.node$/.exec(name)?.[1] ?? 0)),
    );
    expect(newest).to.equal(127);
    expect(build)
      .to.match(/^FROM node:22-/)
      .and.include('npm uninstall --no-save --omit=dev pm2');
    expect(images.join(''))
      .to.match(/^FROM node:22-/)
      .and.not.include('pm2');
  });

  it('are pinned to a digest, or by the command that compose.yaml names', () => {
    const used = mentionsOf(/^(?:FROM| *image:) +(\S+)/gm, ['deploy/Dockerfile', 'deploy/compose.yaml'])
      .map(({ found }) => found)
      .filter((image) => !['process', 'adoption-http', 'adoption-gateway'].includes(image));
    const [, pinned = ''] = /for image in (.+); do/.exec(textOf('deploy/compose.yaml')) ?? [];
    expect([...new Set(used.map((image) => image.split('@')[0]))].sort()).to.deep.equal(
      pinned.split(' ').sort(),
    );
  });
});

describe('deploy/compose.yaml', () => {
  interface Service {
    profiles?: string[];
    volumes?: string[];
    networks: string[];
    command?: string[];
  }
  const { services, volumes } = parse(textOf('deploy/compose.yaml'), { merge: true }) as {
    services: Record<string, Service>;
    volumes: Record<string, unknown>;
  };
  const mounted = (service?: Service) => (service?.volumes ?? []).map((volume) => volume.split(':'));

  it('mounts volumes that it declares, and files that exist or that its comments say how to make', () => {
    const made = ['./nginx.conf', './tls'];
    for (const [name, service] of Object.entries(services))
      for (const [source = ''] of mounted(service)) {
        const isThere = source.startsWith('./')
          ? made.includes(source) || existsSync(join(projectRoot(), 'deploy', source))
          : source in volumes;
        expect(isThere, `${name}: ${source}`).to.equal(true);
      }
  });

  it('takes each secret from deploy/.env, which its example and the command that writes it have', () => {
    const text = textOf('deploy/compose.yaml');
    const needed = new Set([...text.matchAll(/(?<!\$)\$\{(\w+)/g)].map(([, name]) => name));
    const example = [...textOf('deploy/.env.example').matchAll(/^(\w+)=/gm)].map(([, name]) => name);
    const [, written = ''] = /^# {3}for name in (.+); do echo/m.exec(text) ?? [];
    expect(example).to.have.members([...needed]);
    expect(written.split(' ')).to.have.members([...needed]);
  });

  it('writes a whole nginx.conf by its command, with the certificate in the folder that is mounted', () => {
    const [, command = ''] =
      /^# {3}(sed .+) deploy\/nginx\.conf\.template > deploy\/nginx\.conf$/m.exec(
        textOf('deploy/compose.yaml'),
      ) ?? [];
    const { status, stdout } = spawnSync('bash', ['-c', `${command} deploy/nginx.conf.template`], {
      cwd: projectRoot(),
      encoding: 'utf8',
    });
    expect(status).to.equal(0);
    const [, target] = mounted(services.nginx).find(([source]) => source === './tls') ?? [];
    expect(target).to.equal('/etc/ssl/adoption');
    const settings = stdout.replaceAll(/^ *#.*/gm, '');
    expect(settings).not.to.match(/@\w+@/);
    const files = [...settings.matchAll(/ssl_certificate(?:_key)? +(\S+);/g)].map(([, file = '']) => file);
    expect(files.map((file) => file.replace('/etc/ssl/adoption/', ''))).to.deep.equal([
      'fullchain.pem',
      'privkey.pem',
    ]);
    for (const file of ['fullchain.pem', 'privkey.pem'])
      expect(textOf('deploy/compose.yaml')).to.include(`deploy/tls/${file}`);
  });

  it('gives MongoDB a password, and no command with something left out', () => {
    const text = textOf('deploy/compose.yaml');
    expect(text)
      .to.match(/MONGODB_URI: mongodb:\/\/adoption:\$\{MONGODB_PASSWORD\b.*@/)
      .and.include('--keyFile');
    expect(text).not.to.include('…');
  });

  it('starts Prometheus and Grafana in a profile only, with their configuration and the dashboards', () => {
    const inProfile = Object.keys(services).filter((name) => services[name]?.profiles);
    expect(inProfile).to.have.members(['prometheus', 'grafana']);
    const inContainer = (path: string) => {
      for (const [source = '', target = ''] of Object.values(services).flatMap(mounted))
        if (path.startsWith(`${target}/`)) return join('deploy', source, path.slice(target.length));
      throw new Error(`nothing is mounted at ${path}`);
    };
    const [, config = ''] = /--config\.file=(\S+)/.exec(services.prometheus?.command?.join(' ') ?? '') ?? [];
    const { scrape_configs } = parse(textOf(inContainer(config)));
    const scraped = scrape_configs[0].dns_sd_configs.flatMap(({ names }: { names: string[] }) => names);
    expect(scraped).not.to.be.empty;
    for (const target of scraped) {
      const shared = services[target]?.networks ?? [];
      expect(services.prometheus?.networks, target).to.include.oneOf(shared);
    }
    const provisioning = '/etc/grafana/provisioning';
    const { providers } = parse(textOf(inContainer(`${provisioning}/dashboards/files.yml`)));
    expect(inContainer(`${providers[0].options.path}/service.json`)).to.equal('deploy/grafana/service.json');
    const { datasources } = parse(textOf(inContainer(`${provisioning}/datasources/prometheus.yml`)));
    expect(new URL(datasources[0].url).hostname).to.equal('prometheus');
  });
});
