import type { AdmitRequest } from '../hot-store';
import type { CustomerCheck } from './customer-requests';
import { stepLevelsBack } from './levels';
import type { EmbeddedState, KeyState } from './state';

interface Denied {
  readonly request: AdmitRequest;
  readonly key: KeyState | undefined;
  readonly keyLevel: number | undefined;
  readonly customer: CustomerCheck | undefined;
  readonly nowMs: number;
}

/** Stores a clock that moved back, even for a denial: otherwise the buckets would stop until it catches up. */
export function stepClocksBack(state: EmbeddedState, { request, key, keyLevel, customer, nowMs }: Denied): void {
  if (request.levelLimits !== undefined) stepLevelsBack(state, request.levelLimits, nowMs);
  if (keyLevel !== undefined && key?.bucket !== undefined && nowMs < key.bucket.atMs)
    key.bucket = { level: keyLevel, atMs: nowMs, burst: request.keyBucket?.burst };
  if (key?.tokens !== undefined && nowMs < key.tokens.atMs) key.tokens = { ...key.tokens, atMs: nowMs };
  if (customer?.level === undefined || customer.state.bucket === undefined) return;
  if (nowMs >= customer.state.bucket.atMs) return;
  const burst = customer.limits?.requestsPerMinute ?? undefined;
  customer.state.bucket = { level: customer.level, atMs: nowMs, burst };
}
