import { encodeId } from '../hold';
import type { AdmitDecision, AdmitPlan, AdmitRequest, DenialReason, LimitState } from '../hot-store';
import { msToNextDay, msToNextMonth } from '../periods';
import { describeBucket } from '../token-bucket';
import { apiKeyKey, customerKey, limitsKey, projectKey, type ShardKeys } from './keys';
import type { ScriptArg } from './scripts';

export interface AdmitContext {
  readonly keys: ShardKeys;
  readonly epoch: string;
  /** Version of the tables that the request was planned with; '' = none was ever raised. */
  readonly tables: string;
  /** '' = the server's clock. */
  readonly clock: ScriptArg;
  readonly queueMaxEntries: number;
}

/** Keys and arguments of `lua/admit.lua`, in its order. */
export function encodeAdmit(request: AdmitRequest, context: AdmitContext): ScriptArg[] {
  const { keys, epoch, tables, clock, queueMaxEntries } = context;
  const { projectId, keyId, requested, downgrade, keyBucket } = request;
  const customer = request.customerId === undefined ? '' : encodeId(request.customerId);
  const args: ScriptArg[] = [
    keys.epoch,
    projectKey(keys, projectId),
    apiKeyKey(keys, keyId),
    keys.log,
    keys.holds,
    keys.leases,
    customerKey(keys, projectId, customer),
    limitsKey(keys, projectId),
    keys.cache[0],
    keys.cache[4],
    keys.projects,
    keys.tables,
    epoch,
    clock,
    request.requestId,
    projectId,
    keyId,
    request.keyVersion,
    request.projectVersion,
    request.reloaded ? '1' : '',
    keyBucket?.ratePerMinute ?? '',
    keyBucket?.burst ?? '',
    queueMaxEntries,
    request.projectCapNanoUsd ?? '',
    request.keyBudgetNanoUsd ?? '',
    request.keyBudgetPeriod,
    request.tokensPerMinute ?? '',
    request.maxConcurrency ?? '',
    customer,
    `${projectId}\t${keyId}\t${customer}`,
    tables,
    request.maxCustomers ?? '',
  ];
  pushPlan(args, requested);
  if (downgrade !== undefined) pushPlan(args, downgrade);
  return args;
}

function pushPlan(args: ScriptArg[], plan: AdmitPlan): void {
  args.push(plan.model, plan.holdNanoUsd, plan.lostNanoUsd, plan.tokens, plan.cacheKey ?? '', plan.lostRecord);
}

const limit = (text: unknown): number | null => (text === '' ? null : Number(text));

/** The script names a plan by where it begins among its arguments. */
const REQUESTED_PLAN = 21;
/** First element of the script's reply. */
const CODE = { epoch: 0, stale: 1, replan: 2, denied: 3, cached: 4, staleTables: 6 } as const;

/** undefined: the store is not in the epoch the caller believed in; it decided nothing. */
export function decodeAdmit(reply: readonly unknown[], request: AdmitRequest): AdmitDecision | undefined {
  const nowMs = Number(reply[1]);
  if (reply[0] === CODE.epoch) return undefined;
  if (reply[0] === CODE.stale) return { type: 'stale', nowMs, what: 'principal' };
  if (reply[0] === CODE.staleTables) return { type: 'stale', nowMs, what: 'tables' };
  if (reply[0] === CODE.replan) return { type: 'replan', nowMs, downgradeModel: String(reply[2]) };
  const base = { nowMs, state: decodeState(reply, request) };
  if (reply[0] === CODE.denied) return { type: 'denied', ...base, ...decodeDenial(reply, nowMs) };
  const plan = reply[8] === REQUESTED_PLAN ? 'requested' : 'downgrade';
  if (reply[0] === CODE.cached) {
    const entry = String(reply[9]);
    const storedStart = entry.indexOf(' ') + 1;
    const valueStart = entry.indexOf(' ', storedStart) + 1;
    const storedAtMs = Number(entry.slice(storedStart, valueStart - 1));
    return { type: 'cached', ...base, plan, value: entry.slice(valueStart), storedAtMs };
  }
  const warning = WARNINGS[Number(reply[9])];
  return {
    type: 'admitted',
    ...base,
    plan,
    ...(warning === undefined ? {} : { spendWarning: warning }),
    hotTierIncomplete: reply[10] === 1,
  };
}

const WARNINGS = [undefined, 'customer_daily_spend', 'customer_monthly_spend'] as const;

function decodeState(reply: readonly unknown[], request: AdmitRequest): LimitState {
  const bucket = request.keyBucket;
  return {
    ...(bucket === undefined ? {} : { rate: describeBucket(Number(reply[2]), bucket.ratePerMinute, bucket.burst) }),
    projectSpentNanoUsd: Number(reply[3]),
    ...(request.customerId === undefined
      ? {}
      : {
          customer: {
            spentTodayNanoUsd: Number(reply[4]),
            spentMonthNanoUsd: Number(reply[5]),
            dailyLimitNanoUsd: limit(reply[6]),
            monthlyLimitNanoUsd: limit(reply[7]),
          },
        }),
  };
}

function decodeDenial(reply: readonly unknown[], nowMs: number): { reason: DenialReason; retryAfterMs?: number } {
  const reason = reply[8] as DenialReason;
  if (reason === 'customer_daily_spend') return { reason, retryAfterMs: msToNextDay(nowMs) };
  if (reason === 'customer_monthly_spend' || reason === 'customer_count')
    return { reason, retryAfterMs: msToNextMonth(nowMs) };
  const wait = Number(reply[9]);
  return wait < 0 ? { reason } : { reason, retryAfterMs: wait };
}
