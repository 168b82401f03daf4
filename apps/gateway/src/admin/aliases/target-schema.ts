import { z } from '@hono/zod-openapi';
import type { RoutingTables } from '@llm0/core/routing/routing-tables';
import type { Target } from '@llm0/core/routing/target';
import { count, text } from '../fields/fields';

/** Matches the longest name that routes are cached by. */
export const modelName = text(256);

const MAX_HEDGE_AFTER_MS = 600_000;

export const hedgeAfterMs = count(1, MAX_HEDGE_AFTER_MS)
  .nullish()
  .openapi({ description: 'Milliseconds without output after which the next target is called too; null = never' });

const MAX_TIMEOUT_MS = 3_600_000;

/** Fields of providers and of an alias's targets. */
export const timeouts = {
  request_timeout_ms: count(1, MAX_TIMEOUT_MS)
    .nullish()
    .openapi({ description: "Connecting, and a stream's first event; null = REQUEST_TIMEOUT" }),
  answer_timeout_ms: count(1, MAX_TIMEOUT_MS)
    .nullish()
    .openapi({ description: 'A whole answer without streaming; null = ANSWER_TIMEOUT' }),
};
export const timeoutsShown = { request_timeout_ms: z.int().nullable(), answer_timeout_ms: z.int().nullable() };

/** A target as chains and aliases show it. */
export const targetShown = z.object({
  provider: z.string(),
  model: z.string(),
  is_configured: z.boolean().openapi({ description: "false: skipped, because the provider isn't configured" }),
  is_priced: z.boolean().openapi({ description: 'false: skipped under a cap' }),
});

/** The target, and whether it can be asked. */
export const showTarget = <T extends Target>(target: T, tables: RoutingTables) => ({
  ...target,
  is_configured: tables.providers.has(target.provider),
  is_priced: tables.prices.find(target.provider, target.model) !== undefined,
});
