import { z } from '@hono/zod-openapi';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { OUTCOMES, STATUSES } from '@llm0/core/errors/outcome';
import { MODALITIES } from '@llm0/core/logs/log-record';
import type { Switch } from '@llm0/drizzle/queries/logs/failovers';
import { LOG_SORTS, type LogSort, NEWEST_FIRST } from '@llm0/drizzle/queries/logs/log-sorts';
import type { LogFilter, LogMatch } from '@llm0/drizzle/queries/logs/logs';
import { METRIC_NAMES } from '@llm0/drizzle/queries/stats/read/questions';
import type { Stretch } from '@llm0/drizzle/queries/stats/read/read-days';
import type { Actor } from '../admin-services';
import { id, MAX_PROJECTS, pageQuery, queryInstant, queryNumber, text, usd } from '../fields/fields';
import { readFields } from '../fields/map-fields';

const CACHES = ['exact', 'semantic', 'miss'] as const;
const LABEL = 'label.';
const LABEL_NOT = 'label_not.';
const MAX_VALUES = 50;
const MAX_CURSOR = 4000;

/** One or several values: the field may repeat. */
const oneOf = <T extends z.ZodType<string>>(value: T, description?: string, max = MAX_VALUES) =>
  z
    .union([z.string(), z.array(z.string()).max(max, `must come at most ${max} times`)])
    .transform((given, context): readonly z.output<T>[] =>
      [given].flat().flatMap((one) => {
        const read = value.safeParse(one);
        if (read.success) return [read.data];
        context.addIssue({ code: 'custom', message: read.error.issues[0]?.message ?? 'is not right' });
        return [];
      }),
    )
    .openapi({ type: 'array', items: { type: 'string' }, description });

const matchFields = {
  project_id: oneOf(id, undefined, MAX_PROJECTS),
  api_key_id: oneOf(id),
  model: oneOf(text(512), 'Answering or requested model'),
  answering_model: oneOf(text(512), 'Model that answered; without an answer, the first target'),
  requested_model: oneOf(text(512), 'As the caller named it, such as an alias'),
  provider: oneOf(text()),
  status: oneOf(z.enum(STATUSES), STATUSES.join(', ')),
  outcome: oneOf(z.enum(OUTCOMES), `the status, with \`caller_error\` apart from \`error\`: ${OUTCOMES.join(', ')}`),
  http_status: oneOf(z.string().regex(/^\d{3}$/, 'must be a status of HTTP')),
  error_code: oneOf(text()),
  cache: oneOf(z.enum(CACHES), CACHES.join(', ')),
  customer_id: oneOf(text(256)),
  modality: oneOf(z.enum(MODALITIES), MODALITIES.join(', ')),
  guardrail: oneOf(text(100), 'A rule of the guardrails that found something'),
};
type MatchName = keyof typeof matchFields;
const MATCH_NAMES = Object.keys(matchFields) as MatchName[];
type NotFields = { [K in MatchName as `${K}_not`]: (typeof matchFields)[K] };
const notFields = Object.fromEntries(
  MATCH_NAMES.map((name) => [
    `${name}_not`,
    matchFields[name].openapi({ description: `Excludes this ${name} and other given ones` }),
  ]),
) as NotFields;

const optional = <T extends z.ZodRawShape>(fields: T) => z.object(fields).partial().shape;

const traceId = z.string().regex(/^[0-9a-f]{32}$/, 'must be 32 hex digits');

const tokens = z
  .string()
  .regex(/^\d{1,15}$/, 'must be a whole number')
  .transform(Number)
  .openapi({ type: 'integer', minimum: 0 });

const TARGET = /^([^/]+)\/(.+)$/;

const flag = z
  .enum(['true', 'false'])
  .transform((value) => value === 'true')
  .openapi({ type: 'string', enum: ['true', 'false'] });

/** Names of models have no `>`. */
const readSwitch = text(1200).transform((given, context): Switch => {
  const [from = '', to = '', reason, status, outcome] = given.split('>').map((part) => part.trim());
  const [original, fallback] = [TARGET.exec(from), TARGET.exec(to)];
  if (original === null || fallback === null) {
    context.addIssue({ code: 'custom', message: 'must be `provider/model>provider/model`' });
    return z.NEVER;
  }
  return {
    ...{ originalProvider: original[1] ?? '', originalModel: original[2] ?? '' },
    ...{ fallbackProvider: fallback[1] ?? '', fallbackModel: fallback[2] ?? '' },
    ...(reason && { triggerReason: reason }),
    ...(status !== undefined && { triggerStatusCode: /^\d{3}$/.test(status) ? Number(status) : null }),
    ...(outcome && { fallbackSucceeded: outcome === 'answered' }),
  };
});

/** Filters of requests. */
export const filterFields = {
  ...optional(matchFields),
  ...optional(notFields),
  request_id: id.optional(),
  run_id: text(128).optional().openapi({ description: 'Agent run: `X-LLM0-Run-Id`' }),
  trace_id: traceId.optional().openapi({ description: 'W3C trace id, 32 hex digits' }),
  failover_from: text()
    .optional()
    .openapi({ description: 'Failed at this provider or found it paused, then answered by another target' }),
  sent_to: text()
    .optional()
    .openapi({ description: 'Answered by this provider, or failed there; other targets may have answered then' }),
  failed_at: text()
    .optional()
    .openapi({ description: 'Failed at this provider by its own fault, wherever it was answered then' }),
  sent: flag
    .optional()
    .openapi({ description: 'Whether a provider got it: refusals and answers from a cache are not sent' }),
  switch: readSwitch.optional().openapi({
    type: 'string',
    description:
      'A switch of `GET /stats/failovers`: `provider/model>provider/model`, and if wanted `>reason>status>answered` (or `failed`), such as ' +
      '`openai/gpt-4o>anthropic/claude-haiku-4-5>rate_limited>429>answered`',
  }),
  from: queryInstant.optional().openapi({ description: 'Inclusive' }),
  to: queryInstant.optional().openapi({ description: 'Exclusive' }),
  min_cost: usd.optional(),
  min_latency: queryNumber().optional().openapi({ description: 'Milliseconds, inclusive' }),
  max_latency: queryNumber().optional().openapi({ description: 'Milliseconds, inclusive' }),
  latency_of: z
    .enum(METRIC_NAMES)
    .optional()
    .openapi({ description: 'Duration that both bounds apply to; default: `latency`' }),
  stream: flag.optional(),
  min_tokens: tokens.optional().openapi({ description: 'In and out, inclusive' }),
  max_tokens: tokens.optional().openapi({ description: 'In and out, inclusive' }),
  q: text().optional().openapi({
    description:
      'Substring of a model, customer, client request id or error; with can_read_bodies also of a text in the kept prompt or answer',
  }),
};

const listFields = {
  ...pageQuery,
  cursor: z.string().max(MAX_CURSOR).optional().openapi({ description: '`next_cursor` of the previous page' }),
  sort: z
    .enum(LOG_SORTS as [LogSort, ...LogSort[]])
    .default(NEWEST_FIRST)
    .openapi({
      description:
        'With a minus the largest first. Rows of one value come newest first, rows without one last. Any order but that of ' +
        '`created_at` is of what can be read in 1.5 s, the newest: where that is less, `partial_from` says since when',
    }),
  count: z.enum(['true', 'false']).optional().openapi({ description: 'true: the answer has `count`' }),
  format: z.enum(['json', 'csv', 'ndjson']).optional().openapi({ description: 'csv and ndjson stream every match' }),
};

/** `?label.<name>=` and `?label_not.<name>=` may be any number of further fields; other unknown ones are refused. */
const withLabels = <T extends z.ZodRawShape>(fields: T) =>
  z.looseObject(fields).superRefine((query, context) => {
    const keys = Object.keys(query).filter((key) => !(key in fields || isLabel(key)));
    if (keys.length > 0) context.addIssue({ code: 'unrecognized_keys', keys, input: query });
  });
const isLabel = (key: string) => key.startsWith(LABEL) || key.startsWith(LABEL_NOT);

export const filterSchema = withLabels(filterFields);
export const logQuerySchema = withLabels({ ...filterFields, ...listFields });
export const tallyQuerySchema = withLabels({
  ...filterFields,
  interval: z
    .string()
    .regex(/^\d{1,7}$/, 'must be whole seconds')
    .transform(Number)
    .openapi({
      type: 'integer',
      description: 'Seconds; default: about 60 buckets',
    })
    .optional(),
});

/** Without `actor`, texts are not searched in bodies: who may not read them must not find out by searching. */
export function toLogFilter(query: z.output<typeof filterSchema>, actor?: Pick<Actor, 'may'>): LogFilter {
  const { from: fromMs, to: toMs, min_cost: minCostNanoUsd, min_latency: minLatencyMs, q } = query;
  const {
    max_latency: maxLatencyMs,
    latency_of: latencyOf,
    stream,
    sent,
    min_tokens: minTokens,
    max_tokens: maxTokens,
  } = query;
  const {
    request_id: requestId,
    run_id: runId,
    trace_id: traceId,
    failover_from: failoverFrom,
    sent_to: provider,
    failed_at: failing,
  } = query;
  const match = (suffix: '' | '_not', label: string): LogMatch => {
    const given = MATCH_NAMES.flatMap((name) => {
      const values = query[`${name}${suffix}`];
      return values === undefined ? [] : [[name, values]];
    });
    return { ...readFields(Object.fromEntries(given)), labels: labelsOf(query, label) };
  };
  return {
    ...match('', LABEL),
    ...{
      not: match('_not', LABEL_NOT),
      requestId,
      runId,
      traceId,
      failoverFrom,
      sentTo: provider === undefined ? undefined : { provider },
      failedAt: failing === undefined ? undefined : { provider: failing },
      switched: query.switch,
      fromMs,
      toMs,
      minCostNanoUsd,
      ...{ minLatencyMs, maxLatencyMs, latencyOf, stream, sent, minTokens, maxTokens },
      q,
      searchesBodies: q !== undefined && actor?.may('read_bodies') ? true : undefined,
    },
  };
}

function labelsOf(query: Readonly<Record<string, unknown>>, prefix: string): LogMatch['labels'] {
  const labels = Object.entries(query).flatMap(([key, value]) => {
    const values = [value].flat().filter((one) => typeof one === 'string');
    return key.startsWith(prefix) && values.length > 0 ? [[key.slice(prefix.length).toLowerCase(), values]] : [];
  });
  return labels.length === 0 ? undefined : Object.fromEntries(labels);
}

const HISTOGRAM_BUCKETS = 60;
const MAX_BUCKETS = 1000;
const STEPS_S = [1, 5, 15, 60, 300, 900, 1800, 3600, 10_800, 21_600, 43_200, 86_400, 604_800];

/** Milliseconds; throws for too many buckets. */
export function tallyInterval({ fromMs, toMs }: Stretch, askedSeconds: number | undefined): number {
  const seconds = (toMs - fromMs) / 1000;
  if (askedSeconds === undefined) {
    return 1000 * (STEPS_S.find((step) => seconds / step <= HISTOGRAM_BUCKETS) ?? 2_592_000);
  }
  if (askedSeconds > 0 && seconds / askedSeconds <= MAX_BUCKETS) return askedSeconds * 1000;
  const message = `The range has more than ${MAX_BUCKETS} buckets. Choose a longer interval or a shorter range.`;
  throw new GatewayError('invalid_request', message, { param: 'interval' });
}
