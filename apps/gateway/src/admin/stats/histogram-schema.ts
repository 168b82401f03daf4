import { z } from '@hono/zod-openapi';
import { instantShown } from '../fields/fields';

export const histogramSchema = z
  .object({
    requests: z.int(),
    bins: z.array(
      z.object({
        from_ms: z.number().openapi({ description: 'Exclusive' }),
        to_ms: z.number().openapi({ description: 'Inclusive; a third more than `from_ms`' }),
        requests: z.int(),
        cache_hits: z.int().openapi({ description: 'Of these, answers of the caches' }),
      }),
    ),
    buckets: z
      .array(
        z.object({
          start: instantShown,
          requests: z.array(z.int()).openapi({ description: 'Requests of each of `bins`' }),
        }),
      )
      .openapi({ description: 'Oldest first, without empty ones; none without `interval`' }),
  })
  .openapi('Histogram');

export type HistogramShown = z.output<typeof histogramSchema>;
