import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../domain/platform/project-root.js';
import { readArguments } from './command/read-arguments.js';
import { runCommand } from './command/run-command.js';
import { publishedDocuments } from './docs/published.js';

const usage = `Usage: npm run docs

Writes the published API documents to docs/api: what /openapi.json, /asyncapi.json and /docs serve. The
tests compare the two, so that a review sees every change of the interface.`;

await runCommand(usage, async (args) => {
  readArguments({ args, options: {} });
  const folder = join(projectRoot(), 'docs', 'api');
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(publishedDocuments())) writeFileSync(join(folder, name), text);
  return 0;
});
