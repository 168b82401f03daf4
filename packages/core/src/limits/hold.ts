import { counterOf } from './budgets';
import type { AdmitPlan, AdmitRequest } from './hot-store';
import { tokenNamesOf } from './level-limits';

/** A hold lives this long without a renewal; then its process counts as dead. */
export const LEASE_MS = 60_000;
/** Time in which the store recognises a repeated settlement; older ones are looked up in the rows. */
export const DONE_MARKER_MS = 300_000;
/** Time in which a late settlement may correct a reaped hold. */
export const REAPED_MARKER_MS = 86_400_000;
/** After its data was lost the hot cache tier counts as incomplete for this long: longer-lived warm entries are rare. */
export const CACHE_LOST_MS = 86_400_000;

/** Money and tokens set aside for one open request, with all that settling or reaping it needs. */
export interface Hold {
  readonly projectId: string;
  readonly keyId: string;
  /** '' = none. */
  readonly customerId: string;
  /** The store's clock at admission; fixes the day and month that are booked. */
  readonly admittedAtMs: number;
  readonly holdNanoUsd: number;
  readonly lostNanoUsd: number;
  readonly tokens: number;
  /** Tokens-per-minute limit at admission; 0 = none was set. */
  readonly tokensPerMinute: number;
  /** Counters of its budgets (`<id>:<period>`) and token buckets of its levels, separated by spaces. Absent without any. */
  readonly counters?: string;
  readonly lostRecord: string;
}

/**
 * A hold as the Redis scripts store it: numbers (and counters of budgets), ids and record on separate lines. Ids must
 * not hold tabs or line breaks (`encodeId` sees to it).
 */
export function decodeHold(text: string): Hold {
  const numbersEnd = text.indexOf('\n');
  const idsEnd = text.indexOf('\n', numbersEnd + 1);
  const [hold, lost, tokens, tokensPerMinute, admittedAt] = text.slice(0, numbersEnd).split(' ').map(Number);
  const [projectId = '', keyId = '', customerId = ''] = text.slice(numbersEnd + 1, idsEnd).split('\t');
  return {
    projectId,
    keyId,
    customerId: decodeURIComponent(customerId),
    admittedAtMs: admittedAt ?? 0,
    holdNanoUsd: hold ?? 0,
    lostNanoUsd: lost ?? 0,
    tokens: tokens ?? 0,
    tokensPerMinute: tokensPerMinute ?? 0,
    lostRecord: text.slice(idsEnd + 1),
  };
}

/** The hold of an admitted request, as `decodeHold` reads it. */
export function encodeHold(request: AdmitRequest, plan: AdmitPlan, admittedAtMs: number): string {
  const { projectId, keyId, customerId = '', tokensPerMinute } = request;
  const numbers = [plan.holdNanoUsd, plan.lostNanoUsd, plan.tokens, tokensPerMinute ?? 0, admittedAtMs];
  const counters = countersOf(request, admittedAtMs);
  return `${numbers.join(' ')}${counters === undefined ? '' : ` ${counters}`}\n${projectId}\t${keyId}\t${encodeId(customerId)}\n${plan.lostRecord}`;
}

/** Counters of a request's budgets and buckets of its levels, as its hold names them; undefined without any. */
export function countersOf(
  { budgets, levelLimits }: Pick<AdmitRequest, 'budgets' | 'levelLimits'>,
  admittedAtMs: number,
): string | undefined {
  const names = [
    ...(budgets?.list.map((budget) => counterOf(budget, admittedAtMs)) ?? []),
    ...(levelLimits === undefined ? [] : tokenNamesOf(levelLimits)),
  ];
  return names.length === 0 ? undefined : names.join(' ');
}

const RESERVE = 'R';

/** Counters of a hold that has become a reserve: it takes no place of its key's concurrency. */
export const reserveCounters = (counters: string | undefined): string =>
  isReserve({ counters }) ? (counters ?? '') : `${counters ?? ''} ${RESERVE}`;

export const isReserve = ({ counters }: Pick<Hold, 'counters'>): boolean =>
  counters?.split(' ').includes(RESERVE) === true;

/** Free text (a customer's id comes from a header) as one word without separators. */
export function encodeId(id: string): string {
  return /^[\w.-]*$/.test(id) ? id : encodeURIComponent(id.toWellFormed());
}

/** Row of a dead process's request, completed by the store. */
export function completeLostRecord(hold: Hold): string {
  return JSON.stringify({
    ...JSON.parse(hold.lostRecord),
    createdAtMs: hold.admittedAtMs,
    costNanoUsd: hold.lostNanoUsd,
  });
}
