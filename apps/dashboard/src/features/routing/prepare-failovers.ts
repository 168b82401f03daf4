import type { FailoverGroup } from '../../api/stats';
import type { RequestsFilter } from '../../range/use-show-requests';

/** The names that other pages use. */
const REASONS: Readonly<Record<string, string>> = { breaker_open: 'paused', server_error: 'failed' };

/** In words, with the status of the answer. */
export const reasonOf = ({ trigger_reason: reason, trigger_status_code: status }: FailoverGroup): string =>
  [REASONS[reason] ?? reason.replaceAll('_', ' '), status].filter((part) => part !== null).join(' ');

export const originOf = (row: FailoverGroup) => ({ provider: row.original_provider, model: row.original_model });
export const targetOf = (row: FailoverGroup) => ({ provider: row.fallback_provider, model: row.fallback_model });

export const keyOf = (row: FailoverGroup): string =>
  JSON.stringify([originOf(row), targetOf(row), reasonOf(row), row.fallback_succeeded]);

/** Requests of the row. */
export const requestsOf = (row: FailoverGroup): RequestsFilter => ({
  switch: [
    ...[originOf(row), targetOf(row)].map(({ provider, model }) => `${provider}/${model}`),
    ...[row.trigger_reason, row.trigger_status_code ?? '', row.fallback_succeeded ? 'answered' : 'failed'],
  ].join('>'),
});
