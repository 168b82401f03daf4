import { join } from 'node:path';
import { copyTemplate } from './copy-template';
import { hostDatabase } from './host-database';
import { OrderedProcess } from './order-process';
import { removeFolder, temporaryFolder } from './server-process';
import { type GatewayOptions, type GatewayProcess, gatewayEnvironment, TEST_ADMIN_TOKEN } from './start-gateway';

const gateways = new OrderedProcess<{ readonly env: Readonly<Record<string, string>> }>(
  join(import.meta.dir, 'serve-gateways.ts'),
);

/**
 * A gateway as `startGateway` starts it, beside others in one process, and its embedded database as well: a tenth of
 * what it takes to start, and no cold code. Nobody can signal it; `kill` has it stop while its test goes on.
 */
export async function hostGateway(options: Pick<GatewayOptions, 'env' | 'dataDir'> = {}): Promise<GatewayProcess> {
  const dataDir = options.dataDir ?? temporaryFolder('gateway');
  const isEmbedded = options.env?.DATABASE_URL === undefined;
  if (isEmbedded) await copyTemplate(dataDir);
  const database = isEmbedded ? await hostDatabase(dataDir) : undefined;
  const env = gatewayEnvironment({
    DATA_DIR: dataDir,
    ...(database && { LLM0_TEST_POSTGRES_SOCKET: database.address }),
    ...options.env,
  });
  const gateway = await gateways.serve({ env }).catch(async (error) => {
    await database?.stop();
    throw error;
  });
  const ended = Promise.withResolvers<number>();
  let isServing = true;
  const stop = async () => {
    isServing = false;
    await gateway.stop();
    await database?.stop();
    if (options.dataDir === undefined) removeFolder(dataDir);
    ended.resolve(0);
    return 0;
  };
  return {
    url: gateway.address,
    pid: gateway.pid,
    dataDir,
    apiKey: undefined,
    adminToken: env.ADMIN_TOKEN ?? TEST_ADMIN_TOKEN,
    isRunning: () => isServing && gateway.isRunning(),
    output: () => gateways.linesWith(`"gateway_of_tests":${gateway.id},`),
    exited: ended.promise,
    stop,
    kill: async () => void stop(),
  };
}
