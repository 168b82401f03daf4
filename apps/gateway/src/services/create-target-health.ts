import { connectRedis } from '@llm0/core/limits/redis/connection';
import { EmbeddedTargetHealth } from '@llm0/core/routing/embedded-target-health';
import { RedisTargetHealth } from '@llm0/core/routing/redis-target-health';
import { SharedTargetHealth } from '@llm0/core/routing/shared-target-health';
import type { Target } from '@llm0/core/routing/target';
import type { Config } from '../config/config';

/** What is known of targets, shared with the other gateways on the same Redis. */
export function createTargetHealth(
  config: Pick<Config, 'redis'>,
  onOpened: (target: Target) => void,
): SharedTargetHealth {
  const owner = crypto.randomUUID();
  const store =
    config.redis === undefined
      ? new EmbeddedTargetHealth().open(owner)
      : new RedisTargetHealth({ client: connectRedis(config.redis, 'llm0-health'), owner });
  return new SharedTargetHealth({ store, monotonicMs: () => performance.now(), onOpened });
}
