import { z } from '@hono/zod-openapi';
import type { SpendTable, SpendTableQuery } from '@llm0/drizzle/queries/stats/read/spend-table';
import { instantShown, usdShown } from '../fields/fields';
import { jsonUsd } from '../fields/json-money';
import { showInstant } from '../fields/show-fields';
import { overviewQuerySchema, toStatsQuery } from './schema';

const DEFAULT_TOP = 10;

const side = z.enum(['project', 'key', 'model', 'provider', 'customer', 'modality']);

export const spendTableQuerySchema = overviewQuerySchema.pick({ from: true, to: true, project_id: true }).extend({
  rows: side.default('model'),
  columns: side
    .default('customer')
    .openapi({ description: 'With customers or modalities, rows of at most 92 days are read for 3 s' }),
  top: z
    .string()
    .regex(/^(?:[1-9]|[1-4]\d|50)$/, 'must be from 1 to 50')
    .transform(Number)
    .default(DEFAULT_TOP)
    .openapi({
      type: 'integer',
      description: `Number of rows and of columns, the most expensive first, by default ${DEFAULT_TOP}; the others become "(other)"`,
    }),
});

export const spendTableSchema = z
  .object({
    cells: z.array(
      z.object({
        row: z.string().openapi({ description: "Id or name, '' for none" }),
        column: z.string(),
        requests: z.int(),
        cost_usd: usdShown,
      }),
    ),
    partial: z.boolean().openapi({ description: 'Only part of the range was read' }),
    partial_from: instantShown.nullable().openapi({ description: 'Start of the range that was read' }),
  })
  .openapi('SpendTable');

export function toSpendTableQuery(query: z.output<typeof spendTableQuerySchema>, nowMs: number): SpendTableQuery {
  const { rows, columns, top, ...range } = query;
  return { ...toStatsQuery(range, nowMs), rows, columns, top };
}

/** Body of the answer. */
export const showSpendTable = ({ cells, partialFromMs }: SpendTable) => ({
  cells: cells.map(({ row, column, requests, costNanoUsd }) => ({
    ...{ row, column, requests, cost_usd: jsonUsd(costNanoUsd) },
  })),
  partial: partialFromMs !== undefined,
  partial_from: partialFromMs === undefined ? null : showInstant(partialFromMs),
});
