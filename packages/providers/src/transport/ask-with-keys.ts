import { inTime } from '@llm0/core/async/in-time';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { TakenSlots } from '@llm0/core/routing/places/slots';
import type { ProviderConnection } from '../provider-request';
import type { KeyRing } from './key-ring';

export interface KeyedAttempt {
  readonly provider: string;
  /** Milliseconds for all keys together. */
  readonly timeoutMs: number;
  /** Its places, if its provider or a key has limited ones. */
  readonly slots?: TakenSlots | undefined;
}

/** Tries the next key on 429 and 401, and a referenced one again once it is renewed, within the attempt's time. */
export async function askWithKeys<T>(
  keys: KeyRing,
  { provider, timeoutMs, slots }: KeyedAttempt,
  ask: (connection: ProviderConnection, timeoutMs: number) => Promise<T>,
): Promise<T> {
  const endMs = performance.now() + timeoutMs;
  const tried = new Set<ProviderConnection>();
  let last: GatewayError | undefined;
  for (let connection = keys.next(tried, slots); connection !== undefined; connection = keys.next(tried, slots)) {
    const leftMs = tried.size === 0 ? timeoutMs : endMs - performance.now();
    if (leftMs <= 0) break;
    tried.add(connection);
    try {
      keys.check(connection, provider);
      const answer = await ask(connection, leftMs);
      keys.accepted(connection);
      return answer;
    } catch (error) {
      if (!keys.refused(connection, error) || !(error instanceof GatewayError)) throw error;
      last = error;
      if (error.failure === 'auth')
        await inTime(keys.renew(connection), Math.max(1, endMs - performance.now()), () => {});
    }
  }
  throw keys.exhausted(provider, last);
}
