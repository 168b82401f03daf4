import type { CacheWrite } from '@llm0/core/limits/hot-store';
import type { DialectName } from '@llm0/core/logs/log-record';
import type { Services } from '../../services/contract';
import type { Admission } from '../exchange/admit';
import type { Exchange } from '../exchange/open-exchange';
import { buildRecord, type Outcome } from './build-record';

export interface BookingInput {
  readonly exchange: Exchange;
  readonly dialect: DialectName;
  readonly principal: Admission['principal'];
  readonly decision: Admission['decision'];
}

export interface BookedExtras {
  /** What counts against the key's tokens per minute. */
  readonly tokens: number;
  readonly cache?: CacheWrite;
}

/** Keeps the hold of one admitted call alive, and settles it exactly once; later settlements do nothing. */
export class Booking {
  /** Set once settled: when it resolves, the row outlives this process. */
  handedOver: Promise<void> | undefined;
  private settled = false;

  constructor(
    private readonly services: Pick<Services, 'hotStore' | 'leases' | 'metrics'>,
    private readonly input: BookingInput,
  ) {
    if (this.held) services.leases.add(input.principal.project.id, input.exchange.requestId);
  }

  settle(outcome: Omit<Outcome, 'createdAtMs'>, { tokens, cache }: BookedExtras): void {
    if (this.settled) return;
    this.settled = true;
    const { exchange, principal, dialect, decision } = this.input;
    const record = buildRecord(exchange, principal, dialect, { ...outcome, createdAtMs: decision.nowMs });
    this.services.leases.remove(exchange.requestId);
    this.handedOver = this.services.hotStore.settle({
      requestId: exchange.requestId,
      projectId: principal.project.id,
      keyId: principal.key.id,
      customerId: exchange.customerId,
      admittedAtMs: decision.nowMs,
      held: this.held,
      costNanoUsd: record.costNanoUsd,
      tokens,
      record: JSON.stringify(record),
      cache,
    });
    this.services.metrics.observeRecord(record);
  }

  /** Only admissions set a hold; exact hits do not, nor does what no store decided. */
  private get held(): boolean {
    return this.input.decision.type === 'admitted';
  }
}
