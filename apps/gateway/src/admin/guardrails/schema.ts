import { z } from '@hono/zod-openapi';
import type { GuardrailCheck, GuardrailRule } from '@llm0/core/guardrails/policy';
import type { StoredGuardrails } from '@llm0/drizzle/queries/access/guardrails';
import { count, instantShown, text } from '../fields/fields';
import { showInstant } from '../fields/show-fields';

const MAX_RULES = 200;
const MAX_WORDS = 20_000;
const MAX_EXAMPLES = 500;
const MAX_PATTERN_LENGTH = 4000;
const MAX_HOSTS = 5000;
const MAX_RETRIES = 5;
const WEBHOOK_TIMEOUT_MS = 2000;

const strings = (most: number, each: number) => z.array(text(each)).max(most, `must have at most ${most}`);

const piiKind = z.enum(['email', 'phone', 'card', 'iban', 'national_id', 'ip']);

const decoding = z
  .array(z.enum(['base64']))
  .min(1, 'must name at least one encoding')
  .optional()
  .openapi({ description: 'Further decoded encodings' });

const checkSchema = z
  .discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('pii'),
      kinds: z.array(piiKind).min(1, 'must name at least one kind').optional(),
      decode: decoding,
      countries: strings(20, 2).min(1, 'must name at least one country').optional().openapi({
        description: 'Countries whose phone numbers are also found without a country code (ISO 3166-1)',
      }),
    }),
    z.strictObject({ type: z.literal('secrets'), decode: decoding }),
    z.strictObject({ type: z.literal('regex'), pattern: text(MAX_PATTERN_LENGTH) }),
    z.strictObject({ type: z.literal('words'), words: strings(MAX_WORDS, 200).min(1, 'must have at least one word') }),
    z.strictObject({ type: z.literal('length'), max: count(1) }),
    z.strictObject({ type: z.literal('json_schema'), schema: z.record(z.string(), z.unknown()) }),
    z.strictObject({
      type: z.literal('url'),
      allow: strings(MAX_HOSTS, 253).optional(),
      deny: strings(MAX_HOSTS, 253).optional(),
    }),
    z.strictObject({ type: z.literal('injection') }),
    z.strictObject({
      type: z.literal('similar_to'),
      examples: strings(MAX_EXAMPLES, 2000).min(1, 'must have at least one sentence'),
      threshold: z.number().min(0).max(1),
    }),
    z.strictObject({ type: z.literal('moderation'), model: text() }),
    z.strictObject({
      type: z.literal('webhook'),
      url: text(2000),
      timeout_ms: count(50, 30_000).default(WEBHOOK_TIMEOUT_MS),
    }),
  ])
  .openapi('GuardrailCheck');

const part = z.enum(['system', 'user', 'assistant', 'tool_arguments', 'tool_results']);

/** A rule in requests and answers. */
export const ruleSchema = z
  .strictObject({
    name: text(100).refine((name) => /^[^,\p{Cc}]+$/u.test(name), 'must have no commas and no control characters'),
    on: z.enum(['input', 'output', 'both']),
    parts: z
      .array(part)
      .min(1, 'must name at least one part; omit it for all')
      .optional()
      .openapi({ description: 'All by default' }),
    check: checkSchema,
    action: z.enum(['block', 'redact', 'pseudonymise', 'flag', 'retry']),
    max_retries: count(1, MAX_RETRIES).optional().openapi({ description: 'With "retry": number of further attempts' }),
    on_error: z
      .enum(['block', 'allow'])
      .default('block')
      .openapi({ description: 'Behaviour if the check fails or times out' }),
  })
  .openapi('GuardrailRule');

export type ShownRule = z.output<typeof ruleSchema>;

/** A list of rules, by the names inside. */
export const guardrailRules = z
  .array(ruleSchema)
  .max(MAX_RULES, `must have at most ${MAX_RULES} rules`)
  .transform((rules) => rules.map(readRule));

const mode = z.enum(['off', 'shadow', 'enforce']);
const scope = z.enum(['request', 'project']);

export const policySchema = z
  .strictObject({
    mode,
    rules: guardrailRules.default([]),
    pseudonym_scope: scope.default('request'),
    version: count(0, Number.MAX_SAFE_INTEGER).optional().openapi({
      description: 'Version that the change is based on; a newer one gets 409',
    }),
    holds_streams: z
      .array(z.string())
      .optional()
      .openapi({ description: 'The representation as displayed; ignored on writes' }),
  })
  .openapi('GuardrailChanges');

export const shownPolicySchema = z
  .object({
    mode,
    rules: z.array(ruleSchema),
    pseudonym_scope: scope,
    version: z.int().openapi({ description: '0 = never saved' }),
    holds_streams: z.array(z.string()).openapi({
      description: 'Rules that need the whole answer; streams wait for their end',
    }),
  })
  .openapi('Guardrails');

export const versionSchema = shownPolicySchema
  .extend({ created_by: z.string(), created_at: instantShown })
  .openapi('GuardrailVersion');

export const webhookSecretSchema = z
  .object({ secret: z.string().openapi({ description: 'whsec_ and base64' }) })
  .openapi('GuardrailWebhookSecret');

export const tryoutSchema = z
  .strictObject({
    text: z.string().max(1_000_000),
    on: z.enum(['input', 'output']).default('input'),
    part: part.optional().openapi({ description: 'user for input, assistant for output' }),
    rules: guardrailRules.optional().openapi({ description: "Replaces the project's value" }),
  })
  .openapi('GuardrailTryout');

export const triedSchema = z
  .object({
    rules: z.array(
      z.object({
        name: z.string(),
        matches: z.int(),
        action: z.string(),
        error: z.enum(['timeout', 'failed']).nullable(),
      }),
    ),
    text: z.string().openapi({ description: 'The text after the rules; for a block, after the other rules' }),
    blocked_by: z.string().nullable().openapi({ description: 'The rule that blocks it' }),
  })
  .openapi('GuardrailTried');

function readRule({ max_retries: maxRetries, on_error: onError, check, ...rule }: ShownRule): GuardrailRule {
  return { ...rule, check: readCheck(check), ...(maxRetries === undefined ? {} : { maxRetries }), onError };
}

function readCheck(check: z.output<typeof checkSchema>): GuardrailCheck {
  if (check.type !== 'webhook') return check;
  const { timeout_ms: timeoutMs, ...rest } = check;
  return { ...rest, timeoutMs };
}

export function showRule({ maxRetries, onError, check, parts, ...rule }: GuardrailRule): ShownRule {
  return {
    ...rule,
    ...(parts === undefined ? {} : { parts: [...parts] }),
    check: showCheck(check),
    ...(maxRetries === undefined ? {} : { max_retries: maxRetries }),
    on_error: onError,
  };
}

function showCheck(check: GuardrailCheck): ShownRule['check'] {
  if (check.type !== 'webhook') return check as ShownRule['check'];
  const { timeoutMs, ...rest } = check;
  return { ...rest, timeout_ms: timeoutMs };
}

/** Guardrails of a project that never saved any. */
export const NO_GUARDRAILS = { mode: 'off', rules: [], pseudonymScope: 'request', version: 0 } as const;

type Shown = Pick<StoredGuardrails, 'mode' | 'rules' | 'pseudonymScope' | 'version'>;

export const showGuardrails = (
  { mode, rules, pseudonymScope, version }: Shown,
  holdsStreams: readonly string[],
): z.output<typeof shownPolicySchema> => ({
  ...{ mode, rules: rules.map(showRule), pseudonym_scope: pseudonymScope, version },
  holds_streams: [...holdsStreams],
});

export const showVersion = (
  stored: StoredGuardrails,
  holdsStreams: readonly string[],
): z.output<typeof versionSchema> => ({
  ...showGuardrails(stored, holdsStreams),
  created_by: stored.createdBy,
  created_at: showInstant(stored.createdAtMs),
});
