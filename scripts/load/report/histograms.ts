import { writeFileSync } from 'node:fs';
import { merge } from '../latency.js';
import type { Report } from './page.js';

const slug = (text: string) =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');

/**
 * Writes the merged latencies of each line as a percentile distribution in ms, beside the JSON file: `x.json` gets
 * `x.SCENARIO.PART.NAME.hgrm`. (hdrhistogram.org, plotter)
 */
export function writeHistograms(json: string, reports: Report[]): void {
  for (const { scenario, results } of reports)
    for (const { part, name, latencies } of results) {
      if (latencies === undefined) continue;
      const line = [scenario, part, name].map((text) => slug(text ?? '')).filter(Boolean);
      const distribution = merge([latencies]).outputPercentileDistribution(5, 1_000);
      writeFileSync(`${json.replace(/\.json$/, '')}.${line.join('.')}.hgrm`, distribution);
    }
}
