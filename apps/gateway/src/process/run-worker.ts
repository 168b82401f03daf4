import { inTime } from '@llm0/core/async/in-time';
import type { Logger } from 'pino';
import { AggregatorRegistry, type Registry } from 'prom-client';
import type { Config } from '../config/config';
import { type ServingGateway, serveGateway } from './serve-gateway';
import type { SupervisorMessage, WorkerMessage } from './supervise-workers';

/** Time that a worker waits for the others' metrics. */
const GATHER_TIMEOUT_MS = 4000;

/** One of several processes on a port: serves, reports to its supervisor, and returns everybody's metrics. */
export async function runWorker(config: Config, log: Logger): Promise<ServingGateway> {
  const link = new SupervisorLink();
  const gateway = await serveGateway({ config, log, sharedPort: true, gatherMetrics: (own) => link.gather(own) });
  link.registry = gateway.services.metrics.registry;
  await gateway.keepSecrets();
  link.applyConfig = () => void gateway.applyConfig();
  // One of them is enough.
  if (config.showsCredentials) await gateway.applyConfig();
  link.send({ type: 'ready', ports: gateway.ports, secrets: gateway.secrets });
  return gateway;
}

class SupervisorLink {
  registry: Registry | undefined;
  applyConfig: () => void = () => {};
  private readonly waiting = new Map<string, (metrics: readonly unknown[]) => void>();

  constructor() {
    process.on('message', (message: SupervisorMessage) => void this.receive(message));
    // Without a supervisor, nothing restarts this process or collects its metrics.
    process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  }

  send(message: WorkerMessage): void {
    process.send?.(message);
  }

  /** All workers' metrics summed up; this one's own when the others do not answer in time. */
  async gather(own: () => Promise<string>): Promise<string> {
    const id = crypto.randomUUID();
    const { promise, resolve } = Promise.withResolvers<readonly unknown[]>();
    this.waiting.set(id, resolve);
    this.send({ type: 'metrics-wanted', id });
    const all = await inTime(promise, GATHER_TIMEOUT_MS, () => []);
    this.waiting.delete(id);
    if (all.length === 0) return own();
    return AggregatorRegistry.aggregate(all as object[]).metrics();
  }

  private async receive(message: SupervisorMessage): Promise<void> {
    if (message.type === 'apply-config') this.applyConfig();
    else if (message.type === 'all-metrics') this.waiting.get(message.id)?.(message.metrics);
    else if (this.registry !== undefined) {
      this.send({ type: 'metrics', id: message.id, metrics: await this.registry.getMetricsAsJSON() });
    }
  }
}
