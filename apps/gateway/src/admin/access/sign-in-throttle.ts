import { GatewayError } from '@llm0/core/errors/gateway-error';
import { networkOf } from '@llm0/core/limits/client-network';
import { FloodLimits } from '@llm0/core/limits/flood-limits';
import { LRUCache } from 'lru-cache';

/** Wrong tokens: burst and rate per minute, for one client and for all. */
const CLIENT = { burst: 10, perSecond: 10 / 60 };
const EVERYBODY = { burst: 100, perSecond: 30 / 60 };
const REMEMBERED = 10_000;

/**
 * Refuses token guesses before comparing, per client (IPv4 address or IPv6 /64) and in total. A client that signed in
 * with the same token before may always enter.
 */
export class SignInThrottle {
  private readonly limits = new FloodLimits({ client: CLIENT, global: EVERYBODY });
  /** Client and hash of the token. */
  private readonly welcome = new LRUCache<string, true>({ max: REMEMBERED });
  /** Attempts of strangers, by the same. */
  private readonly underWay = new Map<string, Promise<void>>();

  constructor(private readonly monotonicMs: () => number) {}

  /**
   * Finds the owner of a token; throws 429 after too many wrong tokens. Only failures count, but concurrent attempts
   * count until they succeed. Attempts with one token wait for the first of them.
   */
  async attempt<T>(address: string, hash: string, find: () => Promise<T | undefined>): Promise<T | undefined> {
    const client = networkOf(address);
    const name = `${client} ${hash}`;
    const first = this.underWay.get(name);
    if (first !== undefined) await first;
    if (this.welcome.has(name)) {
      const owner = await find();
      if (owner !== undefined) return owner;
      this.welcome.delete(name);
    }
    this.take(client);
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    this.underWay.set(name, ended);
    let isWrong = false;
    try {
      const owner = await find();
      isWrong = owner === undefined;
      if (!isWrong) this.welcome.set(name, true);
      return owner;
    } finally {
      if (!isWrong) this.limits.giveBack(client);
      this.underWay.delete(name);
      end();
    }
  }

  private take(client: string): void {
    const refusal = this.limits.take(client, this.monotonicMs());
    if (refusal === undefined) return;
    const who = refusal.limit === 'client' ? 'from this address' : 'at this gateway';
    const message = `Too many failed sign-ins ${who}. Try again after the time in Retry-After.`;
    throw new GatewayError('rate_limit_exceeded', message, {
      param: refusal.limit,
      retryAfterMs: refusal.retryAfterMs,
    });
  }
}
