import { OUTCOMES } from '@llm0/core/errors/outcome';
import { MODALITIES } from '@llm0/core/logs/log-record';
import {
  CACHES,
  MANY_NAMES,
  type ManyName,
  ONE_NAMES,
  type OneName,
  oneOrMany,
  type RequestFilter,
  readRequestFilter,
  valuesOf,
} from '../../range/request-filter';

export type FieldName = ManyName | Exclude<OneName, 'q'>;

interface Field {
  readonly label: string;
  readonly placeholder: string;
  /** All there is to choose from; absent where the gateway suggests. */
  readonly values?: readonly string[];
  /** Free text without suggestions. */
  readonly isTyped?: true;
}

/** Filters of requests, in display order. */
export const FIELDS = {
  model: { label: 'Model', placeholder: 'gpt-4o-mini' },
  answering_model: { label: 'Answering model', placeholder: 'gpt-4o-mini' },
  requested_model: { label: 'Requested model', placeholder: 'fast' },
  provider: { label: 'Provider', placeholder: 'openai' },
  outcome: { label: 'Status', placeholder: 'error', values: OUTCOMES },
  error_code: { label: 'Error code', placeholder: 'upstream_timeout' },
  http_status: { label: 'HTTP status', placeholder: '502' },
  cache: { label: 'Cache', placeholder: 'exact', values: CACHES },
  modality: { label: 'Modality', placeholder: 'image', values: MODALITIES },
  guardrail: { label: 'Guardrail', placeholder: 'Name of a rule', isTyped: true },
  customer_id: { label: 'Customer', placeholder: 'acme' },
  api_key_id: { label: 'Key', placeholder: 'Part of its name' },
  label: { label: 'Label', placeholder: 'team=growth' },
  failover_from: { label: 'Answered elsewhere than', placeholder: 'openai' },
  sent: { label: 'Sent on', placeholder: 'true', values: ['true', 'false'] },
  sent_to: { label: 'Sent to', placeholder: 'openai' },
  failed_at: { label: 'Failed at', placeholder: 'openai' },
  switch: { label: 'Switch', placeholder: 'openai/gpt-4o>anthropic/claude-haiku-4-5', isTyped: true },
  min_cost: { label: 'Minimum cost, USD', placeholder: '0.01', isTyped: true },
  min_latency: { label: 'Minimum latency, ms', placeholder: '1000', isTyped: true },
  max_latency: { label: 'Maximum latency, ms', placeholder: '5000', isTyped: true },
  latency_of: { label: 'Latency of', placeholder: 'ttft', values: ['latency', 'ttft', 'overhead', 'upstream'] },
  stream: { label: 'Streamed', placeholder: 'true', values: ['true', 'false'] },
  min_tokens: { label: 'Minimum tokens', placeholder: '1000', isTyped: true },
  max_tokens: { label: 'Maximum tokens', placeholder: '9999', isTyped: true },
  request_id: { label: 'Request ID', placeholder: 'UUID', isTyped: true },
  run_id: { label: 'Run', placeholder: 'X-LLM0-Run-Id', isTyped: true },
  trace_id: { label: 'Trace', placeholder: '32 hex digits', isTyped: true },
} as const satisfies Record<FieldName, Field>;
export const FIELD_NAMES = Object.keys(FIELDS) as FieldName[];
export const fieldOf = (name: FieldName): Field => FIELDS[name];

export const takesMany = (name: FieldName): name is ManyName => MANY_NAMES.some((one) => one === name);

/** One filter for display. */
export interface Chip {
  readonly field: FieldName;
  readonly isNot: boolean;
  readonly values: readonly string[];
}

export function chipsOf(filter: RequestFilter): readonly Chip[] {
  return FIELD_NAMES.flatMap((field) => {
    const given: Chip[] = [{ field, isNot: false, values: valuesOf(filter[field]) }];
    if (takesMany(field)) given.push({ field, isNot: true, values: valuesOf(filter[`${field}_not`]) });
    return given.filter(({ values }) => values.length > 0);
  });
}

/** `Model: a`, `Model is not a`, `Model is one of a, b`, `Model is none of a, b`. */
export function describeChip({ field, isNot, values }: Chip, nameOf: (value: string) => string = (value) => value) {
  const { label } = fieldOf(field);
  const named = values.map(nameOf).join(', ');
  if (values.length === 1) return isNot ? `${label} is not ${named}` : `${label}: ${named}`;
  return `${label} ${isNot ? 'is none of' : 'is one of'} ${named}`;
}

export type FilterChange = { readonly [K in keyof RequestFilter]?: RequestFilter[K] | undefined };

/** Address change of a replaced chip; null removes it. */
export function changeOf(before: Chip | null, after: Chip | null): FilterChange {
  const gone = before === null ? {} : { [keyOf(before)]: undefined };
  return after === null ? gone : { ...gone, [keyOf(after)]: oneOrMany(after.values) };
}

const keyOf = ({ field, isNot }: Chip) => (isNot ? `${field}_not` : field);

/** Typed value, if valid. */
export function readTyped(field: FieldName, typed: string): string | undefined {
  const value = typed.trim();
  return value === '' ? undefined : valuesOf(readRequestFilter({ [field]: value })[field])[0];
}

/** Fields whose values are those of another one. */
const SOURCES: Partial<Record<FieldName, FieldName>> = {
  ...{ failover_from: 'provider', sent_to: 'provider', failed_at: 'provider' },
  ...{ answering_model: 'model', requested_model: 'model' },
};

/** A label is suggested in two steps: its name, then its values. */
export function suggestionField(
  field: FieldName,
  typed: string,
): { readonly field: string; readonly q: string } | null {
  const { values, isTyped } = fieldOf(field);
  if (values !== undefined || isTyped) return null;
  const source = SOURCES[field];
  if (source !== undefined) return { field: source, q: typed };
  const cut = field === 'label' ? typed.indexOf('=') : -1;
  if (cut > 0) return { field: `label.${typed.slice(0, cut)}`, q: typed.slice(cut + 1) };
  return { field, q: typed };
}

/** Converts filters to and from saved views. */
export const toSavedFilters = (query: Readonly<Record<string, string | readonly string[]>>): Record<string, string[]> =>
  Object.fromEntries(Object.entries(query).map(([name, value]) => [name, [...valuesOf(value)]]));

export function fromSavedFilters(filters: Readonly<Record<string, readonly string[]>>): RequestFilter {
  const labels = (prefix: string) =>
    Object.entries(filters).flatMap(([name, values]) =>
      name.startsWith(prefix) ? values.map((value) => `${name.slice(prefix.length)}=${value}`) : [],
    );
  return readRequestFilter({
    ...filters,
    label: labels('label.'),
    label_not: labels('label_not.'),
    ...firstOf(filters),
  });
}

/** Filters of one value are no lists. */
const firstOf = (filters: Readonly<Record<string, readonly string[]>>) =>
  Object.fromEntries(ONE_NAMES.map((name) => [name, filters[name]?.[0]]));
