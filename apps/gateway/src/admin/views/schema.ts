import { z } from '@hono/zod-openapi';
import { LOG_SORTS, type LogSort, NEWEST_FIRST } from '@llm0/drizzle/queries/logs/log-sorts';
import type { StoredView } from '@llm0/drizzle/queries/saved-views';
import { id, instantShown, text } from '../fields/fields';
import { showFields } from '../fields/map-fields';
import { filterSchema } from '../logs/log-query';

const MAX_VALUES = 50;
const MAX_VALUE = 512;
const MAX_COLUMNS = 40;
const MAX_FILTERS = 60;

const filters = z
  .record(text(200), z.array(text(MAX_VALUE)).min(1).max(MAX_VALUES))
  .refine((given) => Object.keys(given).length <= MAX_FILTERS, `must have at most ${MAX_FILTERS} fields`)
  .superRefine((given, context) => {
    const query = Object.entries(given).map(([name, values]) => [name, values.length === 1 ? values[0] : values]);
    const read = filterSchema.safeParse(Object.fromEntries(query));
    for (const { code, path, message, ...issue } of read.error?.issues ?? []) {
      const keys = code === 'unrecognized_keys' && 'keys' in issue ? issue.keys : [];
      const said = keys.length > 0 ? `there is no filter ${keys.join(', ')}` : message;
      context.addIssue({ code: 'custom', path, message: said });
    }
  })
  .openapi({
    type: 'object',
    description: 'Filters of GET /logs with their values, without range, sort and paging',
    example: { status: ['error'], model_not: ['gpt-4o-mini'] },
  });

const fields = {
  name: text(),
  filters,
  columns: z.array(text(60)).max(MAX_COLUMNS).openapi({
    description: "Columns in display order; empty = the dashboard's default",
  }),
  sort: z.enum(LOG_SORTS as [LogSort, ...LogSort[]]),
};

export const newViewSchema = z
  .strictObject({
    ...fields,
    filters: fields.filters.default({}),
    columns: fields.columns.default([]),
    sort: fields.sort.default(NEWEST_FIRST),
  })
  .openapi('NewSavedView');
export const viewChangesSchema = z.strictObject(fields).partial().openapi('SavedViewChanges');
export const viewSchema = z
  .object({
    id,
    name: z.string(),
    filters: z.record(z.string(), z.array(z.string())),
    columns: z.array(z.string()),
    sort: z.string(),
    created_by: z.string(),
    created_at: instantShown,
    updated_at: instantShown,
  })
  .openapi('SavedView');

export const showView = (view: StoredView) =>
  showFields(viewSchema, { ...view, filters: view.filters as Record<string, string[]> });
