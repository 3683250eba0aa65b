import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { parse } from 'yaml';
import { projectRoot } from '../../domain/platform/process/project-root.js';
import { textOf } from './documents.js';
import { namesIn, prometheusFiles, rules, unknownIn } from './promql.js';

const RUNBOOK = 'docs/runbook.md';

const alerts = rules.filter((rule): rule is typeof rule & { alert: string } => rule.alert !== undefined);
const names = alerts.map(({ alert }) => alert);
const testFiles = prometheusFiles.filter((path) => path.endsWith('.test.yml'));

/** The sections of the runbook by heading. */
const sections = new Map(
  textOf(RUNBOOK)
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [heading = '', ...lines] = section.split('\n');
      return [heading, lines.join('\n')];
    }),
);

describe('the rules for Prometheus', () => {
  it('read only series that processes show or rules record, with labels that these have', () => {
    expect(rules.length).to.be.greaterThan(30);
    const unknown = rules.flatMap(({ alert, record, expr }) =>
      unknownIn(expr).map((name) => `${alert ?? record}: ${name}`),
    );
    expect(unknown).to.deep.equal([]);
  });

  it('show a malformed expression, and names that do not exist', () => {
    expect(() => namesIn('sum(up')).to.throw('not PromQL at character 6: sum(up');
    expect(unknownIn('rate(adoption_no_such_total[5m])')).to.deep.equal(['adoption_no_such_total']);
    expect(unknownIn('sum by (room) (adoption_sockets_open{event="a", transport="b"})')).to.deep.equal([
      'adoption_sockets_open{event}',
      'room',
    ]);
  });

  it('record only what a rule or a dashboard reads', () => {
    const dashboards = textOf('deploy/grafana/service.json');
    const read = new Set(rules.flatMap(({ expr }) => namesIn(expr).series));
    const unread = rules.filter(({ record }) => record && !read.has(record) && !dashboards.includes(record));
    expect(unread.map(({ record }) => record)).to.deep.equal([]);
  });
});

describe('the alerts', () => {
  it('page or write a ticket, and name their section of the runbook', () => {
    for (const { alert, expr, labels, annotations } of alerts) {
      // Those of the objectives have theirs from `slo:burning`.
      const severity = labels?.severity ?? (expr.startsWith('slo:burning{') ? 'page' : undefined);
      expect(severity, alert).to.match(/^(?:page|ticket)$/);
      expect(annotations?.runbook, alert).to.equal(`${RUNBOOK}#${alert.toLowerCase()}`);
      expect(annotations?.summary, alert).to.be.a('string');
    }
  });

  it('have a section each, which says what they mean, what to look at and what to do', () => {
    const procedures = ['A stuck deploy'];
    const headings = [...sections.keys()].filter((heading) => !procedures.includes(heading));
    expect(headings).to.have.members(names);
    for (const heading of headings) {
      const points = [...(sections.get(heading) ?? '').matchAll(/^- \*\*([\w ]+)\*\*: \S/gm)];
      expect(
        points.map(([, point]) => point),
        heading,
      ).to.deep.equal(['Means', 'Look at', 'Do']);
    }
  });

  it('have a test each in which they fire, and one in which they do not', () => {
    interface Case {
      alert_rule_test: { alertname: string; exp_alerts: unknown[] }[];
    }
    const cases = testFiles
      .flatMap((path) => (parse(textOf(path)) as { tests: Case[] }).tests)
      .flatMap((test) => test.alert_rule_test);
    const [firing, quiet] = [true, false].map((fires) =>
      names.filter((name) =>
        cases.some(({ alertname, exp_alerts }) => alertname === name && exp_alerts.length > 0 === fires),
      ),
    );
    expect(firing).to.deep.equal(names);
    expect(quiet).to.deep.equal(names);
  });
});

describe('promtool', () => {
  function promtool(...args: string[]) {
    return spawnSync('promtool', args, { cwd: projectRoot(), encoding: 'utf8' });
  }

  before(function skipWithoutPromtool() {
    if (promtool('--version').status !== 0) this.skip();
  });

  it('accepts the configuration and its rules', () => {
    for (const path of prometheusFiles.filter((one) => /prometheus[\w-]*\.yml$/.test(one))) {
      const { status, stdout, stderr } = promtool('check', 'config', path);
      expect(status, stdout + stderr).to.equal(0);
      expect(stdout)
        .to.match(/rule files? found/)
        .and.not.to.include('0 rule files found');
    }
  });

  it('finds that the alerts fire when they should, and only then', () => {
    expect(testFiles).not.to.be.empty;
    const { status, stdout, stderr } = promtool('test', 'rules', ...testFiles);
    expect(status, stdout + stderr).to.equal(0);
  });
});
