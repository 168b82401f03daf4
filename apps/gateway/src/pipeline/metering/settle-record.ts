import type { LevelIds } from '@llm0/core/limits/budgets';
import type { CacheWrite } from '@llm0/core/limits/hot-store';
import type { LogRecord } from '@llm0/core/logs/log-record';
import type { Services } from '../../services/contract';

export interface SettledExtras {
  /** The request holds something that ends with it. */
  readonly held: boolean;
  /** Tokens that count against the key's limit per minute. */
  readonly tokens: number;
  /** See `Settlement.levels`. */
  readonly levels?: LevelIds | undefined;
  readonly cache?: CacheWrite;
}

/** Queues a request's row and books it. Resolves (undefined: at once) when it is durable. */
export function settleRecord(
  services: Pick<Services, 'hotStore' | 'metrics'>,
  record: LogRecord,
  { held, tokens, levels, cache }: SettledExtras,
): Promise<void> | undefined {
  const handedOver = services.hotStore.settle({
    requestId: record.id,
    projectId: record.projectId,
    keyId: record.apiKeyId,
    customerId: record.customerId,
    admittedAtMs: record.createdAtMs,
    held,
    costNanoUsd: record.costNanoUsd,
    tokens,
    record: JSON.stringify(record),
    levels,
    cache,
  });
  services.metrics.observeRecord(record);
  return handedOver;
}
