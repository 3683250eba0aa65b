import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { projectRoot } from '../../domain/platform/process/project-root.js';
import { mentionsOf, operatorFiles, pages, textOf, wrong } from './documents.js';

const exists = (path: string) => existsSync(join(projectRoot(), path));

/** The anchor of a heading on GitHub. */
function anchorOf(heading: string): string {
  const words = heading.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '');
  return words.trim().replaceAll(' ', '-');
}

describe('the documents', () => {
  it('link to pages and headings that exist', () => {
    const links = mentionsOf(/\]\(([^)\s]+)\)/g).filter(({ found }) => !/^https?:/.test(found));
    expect(links.length).to.be.greaterThan(20);
    const leads = (path: string, link: string) => {
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? path : join(dirname(path), file);
      if (!exists(target)) return false;
      const headings = anchor === undefined ? [] : [...textOf(target).matchAll(/^#+ (.+)$/gm)];
      return anchor === undefined || headings.some(([, heading = '']) => anchorOf(heading) === anchor);
    };
    expect(wrong(links, ({ path, found }) => leads(path, found))).to.deep.equal([]);
  });

  it('name files and folders that exist', () => {
    const paths = mentionsOf(
      /(?<![\w/.<-])((?:deploy|docs|domain|gateway|http|packages|scripts|test)\/[\w./@-]*\w\/?)(?![\w<*])/g,
      [...pages, ...operatorFiles],
    );
    expect(paths.length).to.be.greaterThan(60);
    // Files that an installation creates; a folder followed by a placeholder.
    const made = [
      'deploy/.env',
      'deploy/production.env',
      'deploy/nginx.conf',
      'deploy/tls/fullchain.pem',
      'deploy/tls/privkey.pem',
      'deploy/prometheus/metrics_token',
      'http/gateway',
    ];
    const isThere = (path: string) => exists(path) || exists(`${path}.ts`) || made.includes(path);
    expect(wrong(paths, ({ found }) => isThere(found))).to.deep.equal([]);
  });

  it('name compiled files whose source exists', () => {
    const paths = mentionsOf(/\bdist\/([\w./-]+)\.js\b/g, [...pages, ...operatorFiles]);
    expect(paths.length).to.be.greaterThan(10);
    expect(wrong(paths, ({ found }) => exists(`${found}.ts`))).to.deep.equal([]);
  });

  it('name tests by existing titles', () => {
    const calls = mentionsOf(/npm test -- ((?:packages\/[\w-]+\/)?test\/\S+ -g '[^']+')/g);
    expect(calls).to.not.be.empty;
    const has = (call: string) => {
      const [, file = '', titles = ''] = /^(\S+) -g '([^']+)'$/.exec(call) ?? [];
      // A test may stand in a file that this one imports from beside it.
      const beside = [...textOf(file).matchAll(/ from '\.\/(.+)\.js';/g)].map(
        ([, name]) => `${dirname(file)}/${name}.ts`,
      );
      const text = [file, ...beside].map(textOf).join('\n');
      return titles.split('|').every((title) => text.includes(title));
    };
    expect(wrong(calls, ({ found }) => has(found))).to.deep.equal([]);
  });

  it('are all linked: each decision in its list, each page of docs/ under "Further reading" in the README', () => {
    const list = textOf('docs/decisions/README.md');
    const decisions = readdirSync(join(projectRoot(), 'docs/decisions')).filter(
      (name) => name !== 'README.md',
    );
    expect(decisions.filter((name) => !list.includes(`(${name})`))).to.deep.equal([]);
    const [, readOn = ''] = textOf('README.md').split('## Further reading');
    const top = readdirSync(join(projectRoot(), 'docs')).map((name) => `docs/${name}`);
    expect(top.filter((path) => !readOn.includes(`](${path}`))).to.deep.equal([]);
  });

  it('show the tree as it is', () => {
    const tree = [...textOf('ARCHITECTURE.md').matchAll(/^ {4}([\w/.-]+)/gm)].map(([, path = '']) => path);
    expect(tree.filter((path) => !exists(path))).to.deep.equal([]);
    const folders = ['domain', '.'].flatMap((above) =>
      readdirSync(join(projectRoot(), above), { withFileTypes: true })
        .filter(
          (one) =>
            one.isDirectory() && !/^(?:\..*|node_modules|dist|coverage|domain|deploy|docs)$/.test(one.name),
        )
        .map(({ name }) => `${join(above, name)}/`),
    );
    expect(folders.filter((path) => !tree.includes(path))).to.deep.equal([]);
  });

  it('say in every section of the operators’ guide which test or command shows it', () => {
    const sections = textOf('docs/operations.md').split(/^## /m).slice(1);
    const without = sections.filter((text) => !/^Shown by: .*(?:npm run|npx mocha|nginx|test)/m.test(text));
    expect(without.map((text) => text.split('\n')[0])).to.deep.equal([]);
  });
});
