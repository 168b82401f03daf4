import { z } from '@hono/zod-openapi';
import { text } from './fields';

/** As long as the longest name that routes are remembered by. */
export const modelName = text(256);

/** A target as chains and aliases show it. */
export const targetShown = z.object({
  provider: z.string(),
  model: z.string(),
  is_configured: z.boolean().openapi({ description: 'false: the provider is not configured, so it is left out' }),
  is_priced: z.boolean().openapi({ description: 'false: it is skipped where a cap applies' }),
});
