import { backendProvider } from '@llm0/core/backends/backend';
import type { Backend, FixedBackend } from '../../api/backends';
import type { ErrorBucket } from '../../api/stats';
import { describeFailedShare } from '../../format/failed-share';
import { formatCount, NOTHING } from '../../format/format-number';
import { formatLength } from '../../format/format-time';
import type { Tone } from '../../ui/badge';
import { EGRESS_HINT } from '../forms/egress-hint';
import type { FieldSpec } from '../forms/prepare-form';
import { readPairs } from '../forms/read-lines';
import { TARGET_STATES } from '../routing/prepare-routing';

const URL_FIELD: FieldSpec = {
  ...{ name: 'url', label: 'URL', kind: 'text', required: true, isWide: true },
  placeholder: 'https://…',
  hint: EGRESS_HINT,
};

const SETTINGS: readonly FieldSpec[] = [
  {
    ...{ name: 'price_per_request_usd', label: 'Price per request, USD', kind: 'usd', placeholder: '0' },
    hint: 'Charged to the same budgets as models',
  },
  {
    ...{ name: 'timeout_ms', label: 'Time-out, ms', kind: 'integer', placeholder: '30000' },
    hint: 'Until an answer begins',
  },
  {
    ...{ name: 'retries', label: 'Retries', kind: 'number', placeholder: '1' },
    hint: 'Only of requests that may be repeated, such as GET',
  },
  {
    ...{ name: 'cache_enabled', label: 'Answers to GET', kind: 'text' },
    options: { true: 'cache them by the rules of HTTP', false: 'do not cache them' },
    read: (text) => text === 'true',
  },
  {
    ...{ name: 'cache_ttl_seconds', label: 'Keep for, seconds', kind: 'integer', placeholder: 'as the gateway' },
    hint: 'For answers that do not say so themselves',
  },
];

const FORWARD_HEADERS: FieldSpec = {
  ...{ name: 'forward_headers', label: 'Forward from callers', kind: 'list', isWide: true, placeholder: 'X-Tenant' },
  hint: 'Further headers that the gateway forwards. Leave empty for none.',
};

const HEADERS: FieldSpec = {
  ...{ name: 'headers', label: 'Headers', kind: 'text', rows: 3, isWide: true, read: readPairs },
  hint: 'Sent with each request, one name=value per line. Stored encrypted and never shown again.',
};

export const NEW_BACKEND_FIELDS: readonly FieldSpec[] = [
  {
    ...{ name: 'name', label: 'Name', kind: 'text', required: true, placeholder: 'rerank' },
    hint: 'Reached at /infer/name/…',
  },
  URL_FIELD,
  ...SETTINGS,
  FORWARD_HEADERS,
  HEADERS,
];

const NONE = 'none';

export const BACKEND_FIELDS: readonly FieldSpec[] = [
  URL_FIELD,
  ...SETTINGS,
  FORWARD_HEADERS,
  {
    ...{ ...HEADERS, read: (text) => (text === NONE ? {} : readPairs(text)) },
    hint: `Replaces the stored value. Leave empty to keep it; "${NONE}" removes it.`,
  },
  { name: 'is_active', label: 'Send requests to this backend', kind: 'flag' },
];

/** A backend as fields of its form. */
export const asFields = ({ cache, ...backend }: Omit<Backend, 'id'>) => ({
  ...backend,
  cache_enabled: String(cache.enabled),
  cache_ttl_seconds: cache.ttl_seconds,
});

/** Converts form values to an API body: drops empty fields and groups the parts of `cache`. */
export function backendBody(body: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { cache_enabled: enabled, cache_ttl_seconds: ttl, forward_headers: forwarded, ...rest } = body;
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined && value !== null));
  const cache = {
    ...(enabled === undefined || enabled === null ? {} : { enabled }),
    // An empty field takes it away.
    ...(ttl === undefined ? {} : { ttl_seconds: ttl }),
  };
  return {
    ...given,
    ...(forwarded === undefined ? {} : { forward_headers: forwarded ?? [] }),
    ...(Object.keys(cache).length === 0 ? {} : { cache }),
  };
}

/** A row of the list. */
export interface BackendLine extends Omit<FixedBackend, 'cache'> {
  readonly key: string;
  /** Absent where the environment names it. */
  readonly stored?: Backend;
  /** As the gateway treats it now. */
  readonly state: { readonly label: string; readonly tone: Tone };
  readonly caches: string;
  /** Of the range; null while unknown. */
  readonly requests: number | null;
  /** Share of answers and failures; null without any. */
  readonly failureRate: number | null;
  /** Failures with their share, in words. */
  readonly failed: string;
}

const ACTIVE = 'active';

interface FoundBackends {
  readonly stored: readonly Backend[];
  readonly fixed: readonly FixedBackend[];
  /** Sums of the range by provider; absent while unknown. */
  readonly sums: readonly ErrorBucket[] | undefined;
  /** Providers whose breaker is open. */
  readonly paused: ReadonlySet<string>;
}

/** Stored ones first, then those of the environment. */
export function prepareBackends({ stored, fixed, sums, paused }: FoundBackends): readonly BackendLine[] {
  const found = new Map(sums?.map((bucket) => [bucket.group, bucket]));
  const used = ({ name }: FixedBackend) => {
    const own = found.get(backendProvider(name));
    const isJudged = own !== undefined && own.success + own.failures > 0;
    return {
      requests: sums === undefined ? null : (own?.requests ?? 0),
      failureRate: isJudged ? own.failure_rate : null,
      failed: isJudged ? `${formatCount(own.failures)} (${describeFailedShare(own)})` : NOTHING,
    };
  };
  const caches = ({ cache }: FixedBackend) =>
    !cache.enabled ? 'off' : cache.ttl_seconds === null ? 'on' : `on, ${formatLength(cache.ttl_seconds * 1000)}`;
  const stateOf = ({ name, is_active: isActive }: FixedBackend, label: string): BackendLine['state'] => {
    if (!isActive) return { label: 'off', tone: 'neutral' };
    const { text, tone } = TARGET_STATES.open;
    if (paused.has(backendProvider(name))) return { label: text, tone };
    return { label, tone: label === ACTIVE ? 'good' : 'neutral' };
  };
  const lineOf = (one: FixedBackend, label: string) => ({
    ...{ ...one, state: stateOf(one, label), caches: caches(one), ...used(one) },
  });
  return [
    ...stored.map((one) => ({ ...lineOf(one, ACTIVE), key: one.id, stored: one })),
    ...fixed.map((one) => ({ ...lineOf(one, 'environment'), key: `environment ${one.name}` })),
  ];
}
