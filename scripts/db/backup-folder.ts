import { join } from 'node:path';
import type { Config } from '../../domain/platform/settings/config.js';

/** Where dumps go without a named folder. */
export const backupFolder = ({ DATA_DIR }: Config) => join(DATA_DIR, 'backups');
