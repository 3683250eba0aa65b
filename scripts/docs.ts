import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { projectRoot } from '../domain/platform/process/project-root.js';
import { readArguments } from './command/read-arguments.js';
import { runCommand } from './command/run-command.js';
import { publishedDocuments } from './docs/published.js';

const usage = `Usage: npm run docs

Writes the published API documents to docs/api: what /openapi.json, /asyncapi.json and /docs serve; the table
of metrics to docs/metrics.md, and that of limits to docs/operations.md. The tests compare them with the source, so that a
review sees every change of the interface.`;

await runCommand(usage, async (args) => {
  readArguments({ args, options: {} });
  for (const [path, text] of Object.entries(publishedDocuments())) {
    const file = join(projectRoot(), path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return 0;
});
