import type { JsonObject, JsonValue, WireFormat } from '@llm0/core/chat/json';
import { OPAQUE_FIELDS, toolsOf } from '../passthrough';
import { asObject, asObjects } from '../translation/read-json';
import { IMAGE_TOOL_MODEL } from './call-fees';

/**
 * `answers`: another model may answer, refused under a cap or allow-list. `capped`: a cost outside of usage, refused
 * under a cap. `strict`: usage without a bound, refused under strict caps. Elsewhere the row says `cost_estimated`.
 */
export type CostlyEffect = 'answers' | 'capped' | 'strict';

interface CostlyField {
  /** Vendor of the field; others with the format may share it. */
  readonly vendor: string;
  readonly format: WireFormat;
  readonly effect: CostlyEffect;
  /** Top-level fields. */
  readonly fields: readonly string[];
  /** See `CostlyUse`. */
  readonly isTold?: true;
  /** Values that ask for nothing. */
  readonly isHarmless?: (value: JsonValue) => boolean;
}

const isOff = (value: JsonValue): boolean => asObject(value)?.mode === 'off';
const isTextOnly = (value: JsonValue): boolean =>
  Array.isArray(value) && value.every((kind) => String(kind).toLowerCase() === 'text');
const isClearingOnly = (value: JsonValue): boolean =>
  asObjects(asObject(value)?.edits).every(({ type }) => String(type).startsWith('clear_'));
const isUsual =
  (...usual: readonly string[]) =>
  (value: JsonValue): boolean =>
    typeof value === 'string' && usual.includes(value);

/**
 * Fields with a cost beyond model and tokens. Absent because priced: every field that names models, `service_tier`,
 * long prompts, `n`, `best_of`, `candidateCount`.
 */
const COSTLY: readonly CostlyField[] = [
  // https://openrouter.ai/docs/features/model-routing: any model may answer.
  { vendor: 'openrouter', format: 'openai-chat', effect: 'answers', fields: ['route', 'preset'] },
  // https://openrouter.ai/docs/features/provider-routing and /web-search: other hosts' prices, searches, parsed files.
  { vendor: 'openrouter', format: 'openai-chat', effect: 'capped', fields: ['provider', 'plugins'] },
  // https://platform.openai.com/docs/pricing: a fee a search.
  { vendor: 'openai', format: 'openai-chat', effect: 'capped', fields: ['web_search_options'] },
  // https://docs.x.ai/docs/guides/live-search: a fee a source.
  { vendor: 'xai', format: 'openai-chat', effect: 'capped', fields: ['search_parameters'], isHarmless: isOff },
  // https://console.groq.com/docs/compound: models and tools of the vendor's choice.
  { vendor: 'groq', format: 'openai-chat', effect: 'answers', fields: ['compound_custom'] },
  // https://docs.mistral.ai/agents/agents_introduction: an agent has a model and tools of its own.
  { vendor: 'mistral', format: 'openai-chat', effect: 'answers', fields: ['agent_id'] },
  // Words that were predicted in vain are billed as output; audio and images at prices of their own.
  { vendor: 'openai', format: 'openai-chat', effect: 'strict', fields: ['prediction', 'best_of'] },
  { vendor: 'openai', format: 'openai-chat', effect: 'strict', fields: ['audio'], isTold: true },
  {
    ...{ vendor: 'openai', format: 'openai-chat', effect: 'strict', fields: ['modalities'] },
    ...{ isTold: true, isHarmless: isTextOnly },
  },
  // https://platform.openai.com/docs/api-reference/responses/create: stored content is read as well.
  {
    vendor: 'openai',
    format: 'openai-responses',
    effect: 'capped',
    fields: ['background'],
    isHarmless: (on) => on !== true,
  },
  { vendor: 'openai', format: 'openai-responses', effect: 'answers', fields: ['prompt'] },
  // https://platform.claude.com/docs/en/about-claude/pricing: fast mode, one region, containers, other servers' tools.
  {
    vendor: 'anthropic',
    format: 'anthropic-messages',
    effect: 'capped',
    fields: ['speed'],
    isHarmless: isUsual('standard'),
  },
  {
    ...{ vendor: 'anthropic', format: 'anthropic-messages', effect: 'capped' },
    ...{ fields: ['inference_geo'], isHarmless: isUsual('global', 'default') },
  },
  { vendor: 'anthropic', format: 'anthropic-messages', effect: 'capped', fields: ['container'] },
  { vendor: 'anthropic', format: 'anthropic-messages', effect: 'strict', fields: ['mcp_servers'] },
  // https://platform.claude.com/docs/en/build-with-claude/context-editing: a summary's cost is outside of the usage.
  {
    ...{ vendor: 'anthropic', format: 'anthropic-messages', effect: 'strict' },
    ...{ fields: ['context_management'], isHarmless: isClearingOnly },
  },
  // https://ai.google.dev/api/caching: another request's input is read, at a price of its own.
  { vendor: 'gemini', format: 'gemini-content', effect: 'strict', fields: ['cachedContent', 'cached_content'] },
  // https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html: dearer hardware, guardrails by the
  // unit, stored prompts, fields of the model's vendor.
  {
    ...{ vendor: 'bedrock', format: 'bedrock-converse', effect: 'capped' },
    fields: ['performanceConfig', 'guardrailConfig', 'promptVariables', 'additionalModelRequestFields'],
  },
];

/** A model that a field of the request names. */
export interface NamedModel {
  /** Dotted. */
  readonly field: string;
  readonly name: string;
}

export interface CostlyUse {
  readonly field: string;
  readonly effect: CostlyEffect;
  /** The vendor's usage tells its part in a class of its own: where it does, the bill is exact. */
  readonly isTold?: true;
}

/** Parts of a request beside model and text that may change the bill. */
export interface Costly {
  readonly uses: readonly CostlyUse[];
  /** Models besides the requested one. */
  readonly names: readonly NamedModel[];
  /** Service tier, in lower case. */
  readonly tier?: string;
}

/** Of nearly all requests: the very same object. */
export const COSTS_AS_USUAL: Costly = { uses: [], names: [] };

const BY_FORMAT = new Map<WireFormat, Map<string, CostlyField>>();
for (const entry of COSTLY) {
  const fields = BY_FORMAT.get(entry.format) ?? new Map<string, CostlyField>();
  for (const field of entry.fields) fields.set(field.toLowerCase(), entry);
  BY_FORMAT.set(entry.format, fields);
}

/** Servers of one family accept each other's fields; those in Go ignore case. */
function fieldOf(format: WireFormat, name: string): CostlyField | undefined {
  const field = name.toLowerCase();
  const own = BY_FORMAT.get(format)?.get(field);
  if (own !== undefined || !RELATED.has(format) || COUNTED.has(field)) return own;
  return BY_FORMAT.get('openai-chat')?.get(field);
}
const RELATED: ReadonlySet<WireFormat> = new Set(['openai-responses', 'openai-completions']);
/** Part of the hold there. */
const COUNTED: ReadonlySet<string> = new Set(['best_of']);

const TIER_FIELD = /^service_?tier$/i;
/** In another case, vendors may read them instead of the counted field. */
const READ_AS: ReadonlySet<string> = new Set([
  ...['messages', 'input', 'prompt', 'system', 'instructions', 'tools', 'functions', 'options', 'stream'],
  ...['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'num_predict', 'n', 'best_of', 'stream_options'],
]);
/** Content that is only read or echoed. */
const CONTENT: ReadonlySet<string> = new Set([
  ...['messages', 'contents', 'content', 'input', 'system', 'systemInstruction', 'system_instruction'],
  ...['instructions', 'documents', 'labels', 'requestMetadata', 'response_format', 'text', 'user', 'stop', 'suffix'],
  ...OPAQUE_FIELDS,
]);
/** `model`, `models`, `fallback_models`, `answering_model`, `modelId`, … */
const NAMES_MODEL =
  /^(?:[\w-]*[_-])?(?:models?|fallbacks?)(?:[_-]?(?:id|name)s?|Ids?|Names?)?$|[a-z](?:Models?|Fallbacks?)(?:Id|Name)?$/;
const namesModel = (field: string) => NAMES_MODEL.test(field) || NAMES_MODEL.test(field.toLowerCase());
const MAX_DEPTH = 200;

/** All that the name of a top-level field tells. */
interface FieldName {
  /** Its value is looked at: neither content nor the model. */
  readonly isRead: boolean;
  readonly isTier: boolean;
  readonly isTool: boolean;
  readonly known: CostlyField | undefined;
  readonly isMisspelt: boolean;
  readonly isName: boolean;
}

function describeField(format: WireFormat, field: string): FieldName {
  const isContent = CONTENT.has(field) || (field === 'prompt' && format !== 'openai-responses');
  return {
    isRead: !isContent && field !== 'model',
    isTier: !isContent && TIER_FIELD.test(field),
    isTool: !isContent && /^tool/i.test(field),
    known: isContent ? undefined : fieldOf(format, field),
    isMisspelt: !isContent && READ_AS.has(field.toLowerCase()) && !READ_AS.has(field),
    isName: namesModel(field),
  };
}

/** Callers make up names: beyond this number, all are looked at again. */
const MOST_NAMES = 2000;
const MOST_CHARACTERS = 64;
const FIELD_NAMES = new Map<WireFormat, Map<string, FieldName>>();

function nameOf(format: WireFormat, known: Map<string, FieldName>, field: string): FieldName {
  const described = describeField(format, field);
  if (known.size >= MOST_NAMES) known.clear();
  if (field.length <= MOST_CHARACTERS) known.set(field, described);
  return described;
}

/** Reads a request in its wire format, including further models that it names. */
export function findCostly(format: WireFormat, body: JsonObject): Costly {
  const known = FIELD_NAMES.get(format) ?? new Map<string, FieldName>();
  if (known.size === 0) FIELD_NAMES.set(format, known);
  let uses: CostlyUse[] | undefined;
  let names: NamedModel[] | undefined;
  let isTooled = false;
  let tier: string | undefined;
  for (const field in body) {
    const value = body[field];
    if (value === undefined || value === null) continue;
    const name = known.get(field) ?? nameOf(format, known, field);
    if (name.isTier) tier ??= tierIn(value);
    isTooled ||= name.isTool;
    if (name.known !== undefined && name.known.isHarmless?.(value) !== true) {
      const { effect, isTold } = name.known;
      uses = [...(uses ?? []), isTold === undefined ? { field, effect } : { field, effect, isTold }];
    }
    if (name.isMisspelt) uses = [...(uses ?? []), { field, effect: 'strict' }];
    if (!name.isRead || (typeof value !== 'string' && typeof value !== 'object')) continue;
    names ??= [];
    collectNames(value, { field, isName: name.isName, depth: 0 }, names);
  }
  const paid = isTooled ? paidTools(format, body) : NO_TOOLS;
  if (paid.length > 0) {
    const tools: CostlyUse = { field: 'tools', effect: 'strict' };
    uses = [...(uses ?? []), paid.every(tellsFee) ? { ...tools, isTold: true } : tools];
  }
  if ((body.generationConfig ?? body.generation_config) !== undefined && makesMedia(body)) {
    uses = [...(uses ?? []), { field: 'generationConfig.responseModalities', effect: 'strict', isTold: true }];
  }
  const isUsual = uses === undefined && (names === undefined || names.length === 0) && tier === undefined;
  return isUsual ? COSTS_AS_USUAL : { uses: uses ?? [], names: names ?? [], tier };
}

interface Place {
  readonly field: string;
  readonly isName: boolean;
  readonly depth: number;
}

function collectNames(value: JsonValue, { field, isName, depth }: Place, names: NamedModel[]): void {
  if (typeof value === 'string') {
    if (isName) names.push({ field, name: value });
    return;
  }
  if (typeof value !== 'object' || value === null || depth >= MAX_DEPTH) return;
  if (Array.isArray(value)) {
    for (const item of value) collectNames(item, { field, isName, depth: depth + 1 }, names);
    return;
  }
  for (const [name, item] of Object.entries(value)) {
    if (CONTENT.has(name)) continue;
    const place = { field: `${field}.${name}`, isName: namesModel(name), depth: depth + 1 };
    if (item !== undefined) collectNames(item, place, names);
  }
}

/** Tools that the vendor runs and bills by the call. */
const PAID_TOOLS: Partial<Record<WireFormat, RegExp>> = {
  'openai-chat': /^(?!function$|custom$)./,
  'openai-responses': /^(?:web_search|file_search|code_interpreter|image_generation|mcp|shell|computer)/,
  'anthropic-messages': /^(?:web_search|web_fetch|code_execution|tool_search|advisor)_/,
  'gemini-content': /search|maps|urlContext|url_context|codeExecution|code_execution|computer/i,
  'bedrock-converse': /^systemTool$/,
};

const NO_TOOLS: readonly JsonObject[] = [];

/** Usage tells the tool's tokens, and its model is the one whose prices are known. */
const tellsFee = ({ type, model }: JsonObject): boolean => type === 'image_generation' && model === IMAGE_TOOL_MODEL;

function paidTools(format: WireFormat, body: JsonObject): readonly JsonObject[] {
  const paid = PAID_TOOLS[format];
  if (paid === undefined) return NO_TOOLS;
  return toolsOf(body).filter(({ type, ...rest }) =>
    typeof type === 'string'
      ? paid.test(type)
      : Object.keys(rest).some((name) => PAID_BY_NAME.has(format) && paid.test(name)),
  );
}

/** Formats that identify tools by their only field. */
const PAID_BY_NAME: ReadonlySet<WireFormat> = new Set(['gemini-content', 'bedrock-converse']);

function makesMedia(body: JsonObject): boolean {
  const config = asObject(body.generationConfig) ?? asObject(body.generation_config);
  const kinds = config?.responseModalities ?? config?.response_modalities;
  return kinds != null && !isTextOnly(kinds);
}

function tierIn(value: JsonValue): string | undefined {
  const tier = asObject(value)?.type ?? value;
  return typeof tier === 'string' && tier !== '' ? tier.toLowerCase() : undefined;
}
