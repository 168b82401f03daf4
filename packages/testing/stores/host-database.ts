import { join } from 'node:path';
import { OrderedProcess } from './order-process';

const databases = new OrderedProcess<{ readonly dataDir: string }>(join(import.meta.dir, 'serve-databases.ts'));

/** An embedded database, beside others in one process. `dataDir`: the gateway's. `address`: its socket. */
export const hostDatabase = (dataDir: string) => databases.serve({ dataDir: join(dataDir, 'postgres') });
