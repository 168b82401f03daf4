import { ZERO_USAGE } from '@llm0/core/chat/usage';
import type { GatewayError } from '@llm0/core/errors/gateway-error';
import type { DialectName } from '@llm0/core/logs/log-record';
import type { Services } from '../../services/contract';
import { AdmissionDenied } from '../exchange/admit';
import type { Authenticated } from '../exchange/authenticate';
import type { Exchange } from '../exchange/open-exchange';
import { buildRecord, errorOutcome } from './build-record';

export interface Refusal {
  readonly dialect: DialectName;
  readonly exchange: Exchange;
  readonly principal: Authenticated;
  readonly requestedModel?: string;
  readonly stream?: boolean;
  readonly error: GatewayError;
}

/**
 * Hands over the row of a request that passed auth and was refused before it was admitted; nothing is booked. Resolves
 * (undefined: at once) when the row outlives this process.
 */
export function recordRefusal(
  services: Pick<Services, 'hotStore' | 'storeClock' | 'clock' | 'metrics'>,
  refusal: Refusal,
): Promise<void> | undefined {
  const { exchange, principal, requestedModel = '', stream = false, error } = refusal;
  const nowMs = error instanceof AdmissionDenied ? error.nowMs : services.storeClock.nowMs();
  const latencyMs = services.clock.monotonicMs() - exchange.startMs;
  const record = buildRecord(exchange, principal, refusal.dialect, {
    createdAtMs: nowMs,
    requestedModel,
    model: requestedModel,
    stream,
    usage: ZERO_USAGE,
    costNanoUsd: 0,
    savedNanoUsd: 0,
    timing: { latencyMs, overheadMs: latencyMs },
    cache: 'miss',
    attempts: [],
    failoverCount: 0,
    ...errorOutcome(error),
  });
  services.metrics.observeRecord(record);
  return services.hotStore.settle({
    requestId: exchange.requestId,
    projectId: principal.project.id,
    keyId: principal.key.id,
    customerId: exchange.customerId,
    admittedAtMs: nowMs,
    held: false,
    costNanoUsd: 0,
    tokens: 0,
    record: JSON.stringify(record),
  });
}
