// Serves several gateways in one process, each with a port, stores and settings of its own: what all of them run is
// loaded and compiled once.
import { readConfig } from '../../../apps/gateway/src/config/config';
import { createLogger } from '../../../apps/gateway/src/observe/logger';
import { serveGateway } from '../../../apps/gateway/src/process/serve-gateway';
import { takeOrders } from './order-process';

takeOrders<{ readonly env: Readonly<Record<string, string>> }>(async ({ env }, id) => {
  const config = readConfig(env);
  // By this, its lines are told from those of others.
  const log = createLogger(config, false).child({ gateway_of_tests: id });
  const gateway = await serveGateway({ config, log, sharedPort: false });
  await gateway.keepSecrets();
  await gateway.applyConfig();
  const address = `${config.tls === undefined ? 'http' : 'https'}://127.0.0.1:${gateway.ports.port}`;
  return { address, stop: () => gateway.shutdown('stopped by a test') };
});
