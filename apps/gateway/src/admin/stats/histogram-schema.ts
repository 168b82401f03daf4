import { z } from '@hono/zod-openapi';

export const histogramSchema = z
  .object({
    requests: z.int(),
    bins: z.array(
      z.object({
        from_ms: z.number(),
        to_ms: z.number(),
        requests: z.int(),
      }),
    ),
  })
  .openapi('Histogram');

export type HistogramShown = z.output<typeof histogramSchema>;
