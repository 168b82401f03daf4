import type { ToolCallRecord } from '@llm0/core/logs/tool-call-record';
import type { Registry } from 'prom-client';
import { asMetric, Buckets } from './record-metrics';

const DURATION_BUCKETS_MS = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000];
const NANO_PER_USD = 1e9;
/** Operators name servers; beyond this number, servers share one name. */
const MOST_SERVERS = 100;
const OTHER = 'other';

interface ServerCells {
  readonly byStatus: Map<string, number>;
  readonly duration: Buckets;
  costNanoUsd: number;
}

/** Dimensions of tool calls. */
export class ToolCallMetrics {
  private readonly servers = new Map<string, ServerCells>();

  /** Counts one finished or refused call from its row. */
  observe({ server, status, durationMs, costNanoUsd }: ToolCallRecord): void {
    const name = this.servers.has(server) || this.servers.size < MOST_SERVERS ? server : OTHER;
    const cells = this.servers.getOrInsertComputed(name, () => ({
      byStatus: new Map(),
      duration: new Buckets(DURATION_BUCKETS_MS),
      costNanoUsd: 0,
    }));
    cells.byStatus.set(status, (cells.byStatus.get(status) ?? 0) + 1);
    cells.duration.observe(durationMs);
    cells.costNanoUsd += costNanoUsd;
  }

  /** Adds the families to a registry. */
  register(registry: Registry): void {
    const all = () => [...this.servers];
    registry.registerMetric(
      asMetric({
        name: 'llm0_tool_calls_total',
        help: 'Calls of MCP tools that passed authentication, by outcome.',
        type: 'counter',
        samples: () =>
          all().flatMap(([server, { byStatus }]) =>
            [...byStatus].map(([status, value]) => ({ labels: { server, status }, value })),
          ),
      }),
    );
    registry.registerMetric(
      asMetric({
        name: 'llm0_tool_call_duration_ms',
        help: 'Duration of MCP tool calls in milliseconds.',
        type: 'histogram',
        samples: () =>
          all().flatMap(([server, { duration }]) => [...duration.samples('llm0_tool_call_duration_ms', { server })]),
      }),
    );
    registry.registerMetric(
      asMetric({
        name: 'llm0_tool_call_cost_usd_total',
        help: 'Cost of MCP tool calls in USD.',
        type: 'counter',
        samples: () =>
          all().map(([server, { costNanoUsd }]) => ({ labels: { server }, value: costNanoUsd / NANO_PER_USD })),
      }),
    );
  }
}
