import { z } from '@hono/zod-openapi';
import type { Replay, ReplayQuery } from '@llm0/core/alerts/replay';
import { instantShown } from '../fields/fields';
import { showInstant, showInstantOrNull } from '../fields/show-fields';

const MAX_SHOWN = 100;

export const alertPreviewSchema = z
  .object({
    from: instantShown.openapi({
      description: 'First check; later than a week ago if older requests are gone or too many',
    }),
    to: instantShown,
    fired: z.int().openapi({ description: 'Number of firings' }),
    firings: z
      .array(z.object({ from: instantShown, to: instantShown.nullable() }))
      .openapi({ description: `The latest ${MAX_SHOWN}, newest first; \`to\` null: it would be firing now` }),
    highest: z.number().nullable().openapi({ description: 'Highest value, in the unit of the threshold' }),
  })
  .openapi('AlertPreview');

export function showReplay(
  { toMs }: ReplayQuery,
  { fromMs, firings, highest }: Replay,
): z.output<typeof alertPreviewSchema> {
  return {
    from: showInstant(fromMs),
    to: showInstant(toMs),
    fired: firings.length,
    firings: firings
      .slice(-MAX_SHOWN)
      .reverse()
      .map((one) => ({ from: showInstant(one.fromMs), to: showInstantOrNull(one.toMs) })),
    highest,
  };
}
