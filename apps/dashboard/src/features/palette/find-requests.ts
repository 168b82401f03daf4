import type { ErrorKind } from '@llm0/core/errors/gateway-error';
import { isHttpStatus, type RequestsSearch } from '../../range/request-filter';
import { UUID } from '../../range/uuid';
import type { Command } from './prepare-palette';

const REQUESTS = { kind: 'request', to: '/requests', needs: 'read_logs' } as const;
const listOf = (label: string, filter: RequestsSearch, words?: string): Command => ({
  ...{ ...REQUESTS, id: `requests ${label}`, label, words, filter },
});

/** Codes that rows of the log have. */
const ERROR_CODES = [
  ...['upstream_error', 'upstream_unavailable', 'upstream_rate_limited', 'upstream_timeout', 'upstream_rejected'],
  ...['rate_limit_exceeded', 'spend_cap_exceeded', 'key_budget_exceeded', 'label_budget_exceeded'],
  ...['team_budget_exceeded', 'user_budget_exceeded', 'run_budget_exceeded', 'run_stopped', 'customer_spend_limit'],
  ...['request_over_limit', 'request_too_large', 'context_length_exceeded', 'invalid_request', 'unsupported_parameter'],
  ...['guardrail_blocked', 'model_not_found', 'model_not_allowed', 'model_not_priced', 'not_cached', 'client_closed'],
  ...['overloaded', 'store_unavailable', 'internal'],
] as const satisfies readonly ErrorKind[];

/** Lists of requests that people look for by a word. */
export const REQUEST_LISTS: readonly Command[] = [
  listOf('Failed requests', { outcome: 'error' }, 'errors failures outage down 5xx'),
  listOf('Rate limited requests', { outcome: 'rate_limited' }, 'refused throttled rate limits'),
  listOf('Requests over a cap or budget', { outcome: 'cap_exceeded' }, 'exceeded refused limits'),
  listOf('Slowest requests', { sort: '-latency_ms' }, 'slow latency p95 p99'),
  listOf('Most expensive requests', { sort: '-cost_usd' }, 'dearest cost spend'),
  listOf('Requests that a cache answered', { cache: ['exact', 'semantic'] }, 'cached hits'),
  ...ERROR_CODES.map(
    (code): Command => ({
      ...listOf(code, { error_code: code }, code.replaceAll('_', ' ')),
      note: 'Requests with this error',
    }),
  ),
];

/** Requests by the typed id or status; last, those that contain the text. */
export function toRequests(typed: string): readonly Command[] {
  if (typed.length < 2) return [];
  if (UUID.test(typed)) {
    return [{ ...REQUESTS, id: `request ${typed}`, label: typed, search: { open: typed } }];
  }
  const status = isHttpStatus(typed) ? [listOf(`Requests with HTTP status ${typed}`, { http_status: typed })] : [];
  return [...status, { ...listOf(`Search requests for “${typed}”`, { q: typed }), isLast: true }];
}
