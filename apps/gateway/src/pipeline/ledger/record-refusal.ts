import { ZERO_USAGE } from '@llm0/core/chat/usage';
import type { GatewayError } from '@llm0/core/errors/gateway-error';
import type { DialectName } from '@llm0/core/logs/log-record';
import type { Services } from '../../services/contract';
import { AdmissionDenied } from '../exchange/denials';
import type { Authenticated } from '../exchange/load-principal';
import type { Exchange } from '../exchange/open-exchange';
import { buildRecord, errorOutcome, type Outcome } from './build-record';
import { settleRecord } from './settle-record';

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
  const { exchange, principal, dialect, requestedModel = '', stream = false, error } = refusal;
  const createdAtMs = error instanceof AdmissionDenied ? error.nowMs : services.storeClock.nowMs();
  const latencyMs = services.clock.monotonicMs() - exchange.startMs;
  const outcome: Outcome = {
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
  };
  const record = buildRecord({ exchange, principal, dialect, createdAtMs }, outcome);
  return settleRecord(services, record, { held: false, tokens: 0 });
}
