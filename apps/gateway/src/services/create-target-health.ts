import { connectRedis } from '@llm0/core/limits/redis/connection';
import { BREAKER_SETTINGS } from '@llm0/core/routing/circuit-breaker';
import type { Peers } from '@llm0/core/routing/places/peers';
import { RedisTargetHealth } from '@llm0/core/routing/redis-target-health';
import { SharedTargetHealth } from '@llm0/core/routing/shared-target-health';
import type { Target } from '@llm0/core/routing/target';
import { noOtherProcess } from '@llm0/core/routing/target-health-store';
import type { Config } from '../config/config';

/** State of targets, shared between gateways on the same Redis, which also count each other as `peers`. */
export function createTargetHealth(
  { redis, testing: { breakerMs } }: Pick<Config, 'redis' | 'testing'>,
  peers: Peers,
  onOpened: (target: Target) => void,
): SharedTargetHealth {
  const createStore = (options: NonNullable<typeof redis>) =>
    new RedisTargetHealth({ client: connectRedis(options, 'llm0-health'), owner: crypto.randomUUID(), peers });
  const store = redis === undefined ? noOtherProcess : createStore(redis);
  const breaker = { ...BREAKER_SETTINGS, ...(breakerMs !== undefined && { openMs: breakerMs }) };
  return new SharedTargetHealth({ store, monotonicMs: performance.now.bind(performance), onOpened, breaker });
}
