import { LRUCache } from 'lru-cache';

/** Rate per second, and burst after a pause. */
export interface FloodRate {
  readonly perSecond: number;
  readonly burst: number;
}

export interface FloodSettings {
  /** For this process. */
  readonly global?: FloodRate;
  /** For each client. */
  readonly client?: FloodRate;
}

export interface FloodRefusal {
  readonly limit: 'global' | 'client';
  readonly rate: FloodRate;
  /** True time until one more passes, milliseconds. */
  readonly retryAfterMs: number;
  /** Until the whole burst is there again, milliseconds. */
  readonly resetMs: number;
}

/** Clients beyond these are forgotten, the longest silent first: a new one begins with a whole burst. */
const MAX_CLIENTS = 100_000;

/**
 * Rate limits in memory before authentication. A bucket is one number, the time when it is full again, so it needs no
 * timer (generic cell rate algorithm).
 */
export class FloodLimits {
  private readonly clients: LRUCache<string, { fullAtMs: number }>;
  private readonly everybody = { fullAtMs: 0 };

  constructor(
    private readonly settings: FloodSettings,
    maxClients = MAX_CLIENTS,
  ) {
    this.clients = new LRUCache({ max: maxClients });
  }

  /** Counts one request of this client, unless one of the limits refuses it: then nothing is counted. */
  take(client: string, nowMs: number): FloodRefusal | undefined {
    const { settings, everybody } = this;
    const own = settings.client && this.bucketOf(client);
    const refusal =
      (own && settings.client && refusalOf('client', settings.client, own, nowMs)) ??
      (settings.global && refusalOf('global', settings.global, everybody, nowMs));
    if (refusal !== undefined) return refusal;
    if (own !== undefined && settings.client !== undefined) add(own, settings.client, nowMs);
    if (settings.global !== undefined) add(everybody, settings.global, nowMs);
    return undefined;
  }

  /** Returns a counted request that turned out to be exempt. */
  giveBack(client: string): void {
    const { settings, everybody } = this;
    const own = this.clients.get(client);
    if (own !== undefined && settings.client !== undefined) own.fullAtMs -= 1000 / settings.client.perSecond;
    if (settings.global !== undefined) everybody.fullAtMs -= 1000 / settings.global.perSecond;
  }

  private bucketOf(client: string): { fullAtMs: number } {
    const known = this.clients.get(client);
    if (known !== undefined) return known;
    const made = { fullAtMs: 0 };
    this.clients.set(client, made);
    return made;
  }
}

function refusalOf(
  limit: FloodRefusal['limit'],
  rate: FloodRate,
  { fullAtMs }: { readonly fullAtMs: number },
  nowMs: number,
): FloodRefusal | undefined {
  const eachMs = 1000 / rate.perSecond;
  const missingMs = Math.max(0, fullAtMs - nowMs);
  const waitMs = missingMs - (rate.burst - 1) * eachMs;
  // Tolerates rounding errors.
  return waitMs > 1e-6 ? { limit, rate, retryAfterMs: waitMs, resetMs: missingMs } : undefined;
}

function add(bucket: { fullAtMs: number }, { perSecond }: FloodRate, nowMs: number): void {
  bucket.fullAtMs = Math.max(bucket.fullAtMs, nowMs) + 1000 / perSecond;
}
