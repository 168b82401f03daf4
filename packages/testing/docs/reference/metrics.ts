import { Metrics } from '@llm0/gateway/observe/metrics';
import { code, type ReferencePage, table } from './table';

export async function metricsPage(): Promise<ReferencePage> {
  const metrics = await new Metrics().registry.getMetricsAsJSON();
  const rows = metrics
    .filter(({ name }) => name.startsWith('llm0_'))
    .toSorted((a, b) => a.name.localeCompare(b.name))
    .map(({ name, type, help }) => [code(name), String(type), help]);
  return {
    title: 'Metrics',
    purpose: 'Every Prometheus metric that `/metrics` exports.',
    body: `No label holds a project, a key or a customer. [Monitoring](../operate/monitoring.md) says which to watch.\n\n${table(['name', 'type', 'meaning'], rows)}`,
  };
}
