import type { Config } from '../../domain/platform/settings/config.js';
import { servingProcess } from '../start/claim-data-dir.js';

/** What is told where no cluster of a DATA_DIR runs, and what serves it instead. */
export async function noCluster(config: Pick<Config, 'DATA_DIR'>): Promise<string> {
  const pid = await servingProcess(config);
  return `No cluster of ${config.DATA_DIR} runs${pid === undefined ? '' : `; process ${pid} serves it by npm start`}.`;
}
