import { connectRedis } from '@llm0/core/limits/redis/connection';
import { RedisTargetHealth } from '@llm0/core/routing/redis-target-health';
import { SharedTargetHealth } from '@llm0/core/routing/shared-target-health';
import type { Target } from '@llm0/core/routing/target';
import { noOtherProcess } from '@llm0/core/routing/target-health-store';
import type { Config } from '../config/config';

/** State of targets, shared between gateways on the same Redis. */
export function createTargetHealth(
  config: Pick<Config, 'redis'>,
  onOpened: (target: Target) => void,
): SharedTargetHealth {
  const store =
    config.redis === undefined
      ? noOtherProcess
      : new RedisTargetHealth({ client: connectRedis(config.redis, 'llm0-health'), owner: crypto.randomUUID() });
  return new SharedTargetHealth({ store, monotonicMs: () => performance.now(), onOpened });
}
