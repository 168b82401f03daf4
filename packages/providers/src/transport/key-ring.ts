// A key the vendor refuses is never reason enough to fail: the next one is asked, and only a provider without any other
// key asks a refused one again.
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { type Slots, TakenSlots } from '@llm0/core/routing/places/slots';
import type { ProviderConnection } from '../provider-request';
import { upstreamFailure } from './upstream-failure';

/** State of a key; it survives table changes. */
export interface KeyHealth {
  /** Monotonic milliseconds until which it rests after a 429. */
  restsUntilMs: number;
  /** The vendor answered 401: skipped while another key exists, until it changes. */
  isRefused: boolean;
}

export function createKeyHealth(): KeyHealth {
  return { restsUntilMs: 0, isRefused: false };
}

export interface RingKey {
  /** Without `apiKey` while the secret of a referenced key is unknown. */
  readonly connection: ProviderConnection;
  readonly health: KeyHealth;
  /** For a referenced key: asks for its secret again; undefined without another one. */
  readonly renew?: () => Promise<RingKey | undefined>;
  /** For a referenced key: true while its secret manager can't be asked. */
  readonly isAway?: () => boolean;
  /** Set if its concurrent requests are limited. */
  readonly slots?: Slots | undefined;
}

const UNREADABLE =
  'can not be asked: the gateway cannot read its stored keys. ENCRYPTION_KEY is missing or another one.';
/** Rest of a key without `Retry-After`. */
const DEFAULT_REST_MS = 2000;

/** The keys of one provider, in order of preference: the first one that may be asked is, so that the vendor's own caches stay warm. */
export class KeyRing {
  constructor(
    private readonly keys: RingKey[],
    private readonly monotonicMs: () => number,
  ) {}

  /** The connection to ask now, none of `tried`; undefined when no other may be asked. `taken` moves to its key. */
  next(tried: ReadonlySet<ProviderConnection>, taken?: TakenSlots): ProviderConnection | undefined {
    const nowMs = this.monotonicMs();
    let refused: ProviderConnection | undefined;
    for (const key of this.keys) {
      const { connection, health, slots } = key;
      if (tried.has(connection) || health.restsUntilMs > nowMs) continue;
      if (isDoubtful(key)) refused ??= connection;
      else if (taken?.useKey(slots) !== false) return connection;
    }
    // Vendors have answered 401 by mistake: better asked in vain than never again.
    return tried.size === 0 && this.keys.every(isDoubtful) ? refused : undefined;
  }

  /** Throws for a referenced key whose secret nobody knows yet. */
  check(connection: ProviderConnection, provider: string): void {
    if (connection.apiKey !== undefined || this.find(connection)?.renew === undefined) return;
    const message = 'can not be asked: the gateway cannot read its key from the secret manager.';
    throw upstreamFailure('auth', provider, message);
  }

  /** After a refusal: if a referenced key has another secret by now, that one may be asked. */
  async renew(connection: ProviderConnection): Promise<void> {
    const renewed = await this.find(connection)?.renew?.();
    const index = this.keys.findIndex((key) => key.connection === connection);
    if (renewed !== undefined && index !== -1) this.keys[index] = { ...renewed, slots: this.keys[index]?.slots };
  }

  /** True if a usable key has no place left for another request. */
  get isFull(): boolean {
    const nowMs = this.monotonicMs();
    const isFull = (key: RingKey) => !isDoubtful(key) && key.health.restsUntilMs <= nowMs && key.slots?.isFull === true;
    return this.keys.some(isFull);
  }

  /** The vendor took the key. */
  accepted(connection: ProviderConnection): void {
    const health = this.healthOf(connection);
    if (health?.isRefused === true) health.isRefused = false;
  }

  /** Records the failure for the key; true if another key may succeed. */
  refused(connection: ProviderConnection, error: unknown): boolean {
    if (!(error instanceof GatewayError)) return false;
    const health = this.healthOf(connection);
    // Another request has renewed the key meanwhile.
    if (health === undefined) return error.failure === 'auth';
    if (error.failure === 'rate_limited') {
      health.restsUntilMs = this.monotonicMs() + (error.retryAfterMs ?? DEFAULT_REST_MS);
      return true;
    }
    if (error.failure !== 'auth') return false;
    // A 403 may be about the model alone: worth another key, but no mark on this one.
    if (error.upstreamStatus === 401) health.isRefused = true;
    return true;
  }

  /** Error without a usable key: `last`, or that all rest. */
  exhausted(provider: string, last: GatewayError | undefined): GatewayError {
    const nowMs = this.monotonicMs();
    const rests = this.keys.map(({ health }) => health.restsUntilMs - nowMs).filter((restMs) => restMs > 0);
    const retryAfterMs = rests.length === 0 ? undefined : Math.ceil(Math.min(...rests));
    if (last?.failure === 'rate_limited') return restingUntil(last.message, retryAfterMs, last);
    if (last !== undefined) return this.withManager(last);
    // A stored key that doesn't open has no place in the ring.
    if (this.keys.length === 0) return upstreamFailure('auth', provider, UNREADABLE);
    if (retryAfterMs === undefined) return upstreamFailure('auth', provider, 'refused every key it has been given.');
    return restingUntil(`${provider} answered 429 to every key it has been given.`, retryAfterMs);
  }

  /** A refusal, which a newer secret might have avoided. */
  private withManager(last: GatewayError): GatewayError {
    const isAway = last.upstreamStatus !== undefined && this.keys.some((key) => key.isAway?.() === true);
    if (!isAway) return last;
    const { kind, message, failure, upstreamStatus, param, status } = last;
    const more = 'The gateway could not ask the secret manager for a newer key.';
    const told = /[.!?]$/.test(message) ? message : `${message}.`;
    return new GatewayError(kind, `${told} ${more}`, { failure, upstreamStatus, param, status, cause: last });
  }

  private healthOf(connection: ProviderConnection): KeyHealth | undefined {
    return this.find(connection)?.health;
  }

  private find(connection: ProviderConnection): RingKey | undefined {
    return this.keys.find((key) => key.connection === connection);
  }
}

/** Refused, or referenced and not known yet. */
const isDoubtful = ({ connection, health, renew }: RingKey): boolean =>
  health.isRefused || (renew !== undefined && connection.apiKey === undefined);

const NOT_TRIED: ReadonlySet<ProviderConnection> = new Set();

/** Takes the places of one attempt; `full` if its provider, or each key that may be asked, has none left. */
export function takeSlots(
  provider: Slots | undefined,
  keys: KeyRing | undefined,
  onFree?: () => void,
): TakenSlots | 'full' {
  if (provider?.tryTake() === false) return 'full';
  const taken = new TakenSlots(provider, onFree);
  if (keys === undefined || keys.next(NOT_TRIED, taken) !== undefined || !keys.isFull) return taken;
  provider?.free();
  return 'full';
}

/** The wait is that of the key which may be asked first. */
function restingUntil(message: string, retryAfterMs: number | undefined, cause?: GatewayError): GatewayError {
  return new GatewayError('upstream_unavailable', message, {
    failure: 'rate_limited',
    upstreamStatus: cause?.upstreamStatus,
    retryAfterMs: retryAfterMs ?? cause?.retryAfterMs,
    cause,
  });
}
