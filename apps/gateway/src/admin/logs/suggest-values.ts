import { z } from '@hono/zod-openapi';
import {
  type KnownField,
  type KnownValue,
  listKnownValues,
  listLabelValues,
  type ValueQuestion,
} from '@llm0/drizzle/queries/logs/known-values';
import { answers, defineRoute } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { projectIds, text } from '../fields/fields';

const FIELDS = [
  ...['model', 'provider', 'error_code', 'customer_id'],
  ...['api_key_id', 'project_id', 'http_status', 'label'],
] as readonly KnownField[] as [KnownField, ...KnownField[]];
const LABEL = 'label.';
const SHOWN = 20;

const fieldSchema = z
  .union([z.enum(FIELDS), z.templateLiteral([LABEL, text(100)])], `must be one of ${FIELDS.join(', ')}, ${LABEL}<name>`)
  .openapi({ type: 'string', description: `${FIELDS.join(', ')} or ${LABEL}<name>; label: names of labels` });

export const suggest = defineRoute({
  method: 'get',
  path: '/logs/suggestions',
  tags: ['logs'],
  summary: 'Values for a filter: recent ones, then configured ones',
  request: {
    query: z.strictObject({
      field: fieldSchema,
      q: text().optional().openapi({ description: 'Substring of the value or its label' }),
      project_id: projectIds,
    }),
  },
  responses: {
    200: answers(
      z.object({
        data: z.array(
          z.object({
            value: z.string(),
            label: z.string().nullable().openapi({ description: 'Name, if the value is an id' }),
          }),
        ),
      }),
      `At most ${SHOWN}, the most frequent first`,
    ),
  },
});

interface Query {
  readonly field: string;
  readonly q?: string;
  readonly project_id?: string | readonly string[] | undefined;
}

type Needs = Pick<AdminServices, 'db' | 'clock' | 'routing'>;

export async function suggestValues({ db, clock, routing }: Needs, query: Query): Promise<KnownValue[]> {
  const { field, q, project_id: projectId } = query;
  const question: ValueQuestion = { q, projectId, nowMs: clock.nowMs(), limit: SHOWN };
  if (field.startsWith(LABEL)) {
    return [...(await listLabelValues(db, field.slice(LABEL.length).toLowerCase(), question))];
  }
  const known = await listKnownValues(db, field as KnownField, question);
  const wanted = q?.toLowerCase() ?? '';
  const configured = configuredValues(routing(), field, projectId)
    .filter((value) => value.toLowerCase().includes(wanted) && !known.some((one) => one.value === value))
    .sort()
    .map((value): KnownValue => ({ value, label: null }));
  return [...known, ...configured].slice(0, SHOWN);
}

/** Possible values without a request so far: providers, aliases, and priced models of configured providers. */
function configuredValues(
  { providers, aliases, prices }: ReturnType<Needs['routing']>,
  field: string,
  projectId: Query['project_id'],
): readonly string[] {
  if (field === 'provider') return [...providers.keys()];
  if (field !== 'model') return [];
  const named = [projectId ?? []].flat().flatMap((one) => aliases.list(one).map(({ name }) => name));
  const priced = prices.list().flatMap(({ provider, model }) => (providers.has(provider) ? [model] : []));
  return [...new Set([...named, ...priced])];
}
