// Serves several gateways in one process, each with a port, stores and settings of its own: what all of them run is
// loaded and compiled once. Orders come from the process that started this one, and it ends with it.
import { readConfig } from '../../../apps/gateway/src/config/config';
import { createLogger } from '../../../apps/gateway/src/observe/logger';
import { type ServingGateway, serveGateway } from '../../../apps/gateway/src/process/serve-gateway';
import { GATEWAY_FIELD, type Order, type Report } from './gateway-orders';

const serving = new Map<number, ServingGateway>();

async function follow(order: Order): Promise<Omit<Report, 'id'>> {
  if (order.do === 'stop') {
    const gateway = serving.get(order.id);
    serving.delete(order.id);
    await gateway?.shutdown('stopped by a test');
    return {};
  }
  const config = readConfig(order.env);
  const log = createLogger(config, false).child({ [GATEWAY_FIELD]: order.id });
  const gateway = await serveGateway({ config, log, sharedPort: false });
  serving.set(order.id, gateway);
  await gateway.keepSecrets();
  await gateway.applyConfig();
  return { url: `${config.tls === undefined ? 'http' : 'https'}://127.0.0.1:${gateway.ports.port}` };
}

process.umask(0o077);
process.on('disconnect', () => process.exit(0));
process.on('message', async (order: Order) => {
  const report = await follow(order).catch((error) => ({ problem: String(error?.message ?? error) }));
  process.send?.({ id: order.id, ...report });
});
