import type { Budget, Uncounted } from '../budgets';
import type { DenialReason } from '../denial-reason';
import type { AdmitDecision, AdmitPlan, AdmitRequest, LimitState } from '../hot-store';
import { msToNextDay, msToNextMonth } from '../periods';
import { describeBucket } from '../token-bucket';
import { type Account, argsOf, BUDGETS, type ShardKeys } from './keys';
import type { ScriptArg } from './scripts';

/** Maximum of rows and characters in one script call, which blocks Redis for up to a millisecond. */
const MAX_ROWS = 48;
const MAX_CHARACTERS = 256 * 1024;

/** Instead of a key: the process has the answer itself. */
const ANSWERED = '+';

/** Requests of one turn and shard: keys and arguments of `lua/admit.lua`, in its order. */
export class AdmissionGroup<Member> {
  /** In the order of arrival, which is that of the reply's rows. */
  readonly members: Member[] = [];
  isFull = false;
  /** Its requests were refused while it was under way. */
  isLate = false;
  /** One of the holds has to outlive the store's data. */
  isAbsolute = false;
  private readonly accounts: (readonly ScriptArg[])[] = [];
  private readonly names: string[] = [];
  private readonly rows: ScriptArg[] = [];
  private characters = 0;

  /** Version that the requests were planned with. */
  readonly tables: string;
  private readonly epoch: string;

  /** `clock` '' = the server's. */
  constructor(
    private readonly keys: ShardKeys,
    private readonly clock: ScriptArg,
    private readonly queueMaxEntries: number,
  ) {
    this.tables = keys.known.tables;
    this.epoch = keys.known.epoch;
  }

  add(request: AdmitRequest, account: Account, member: Member): void {
    const { requested, downgrade, budgets } = request;
    const plans = downgrade === undefined ? 1 : 2;
    const args = argsOf(account, request);
    let place = this.accounts.indexOf(args);
    if (place < 0) {
      place = this.accounts.push(args) - 1;
      this.names.push(...account.names);
    }
    const named = budgets?.text ?? '';
    this.rows.push(place, request.requestId, named === args[BUDGETS] ? plans : `${plans} ${named}`);
    this.pushPlan(requested);
    if (downgrade !== undefined) this.pushPlan(downgrade);
    this.isFull = this.members.push(member) >= MAX_ROWS || this.characters >= MAX_CHARACTERS;
  }

  encode(): ScriptArg[] {
    const { keys, names, accounts } = this;
    const { epoch, tables, log, holds, leases, projects, cache } = keys;
    const args: ScriptArg[] = [8 + names.length, epoch, tables, log, holds, leases, projects, cache[0], cache[4]];
    args.push(...names, this.epoch, this.tables, this.clock, this.queueMaxEntries, accounts.length);
    for (const account of accounts) args.push(...account);
    args.push(...this.rows);
    return args;
  }

  private pushPlan(plan: AdmitPlan): void {
    const key = plan.isAnswered === true ? ANSWERED : (plan.cacheKey ?? '');
    this.rows.push(plan.model, plan.holdNanoUsd, plan.lostNanoUsd, plan.tokens, key, plan.lostRecord);
    this.characters += plan.lostRecord.length;
    if (plan.isAbsolute === true) this.isAbsolute = true;
  }
}

const limit = (text: unknown): number | null => (text === '' ? null : Number(text));

/** First element of a row of the script's reply. */
const CODE = { stale: 1, replan: 2, denied: 3, cached: 4, staleTables: 6, uncounted: 8 } as const;

/** Parses a row of the reply of `lua/admit.lua`. */
export function decodeAdmit(row: readonly unknown[], nowMs: number, request: AdmitRequest): AdmitDecision | Uncounted {
  const code = row[0];
  if (code === CODE.stale) return { type: 'stale', nowMs, what: 'principal' };
  if (code === CODE.staleTables) return { type: 'stale', nowMs, what: 'tables' };
  if (code === CODE.replan) return { type: 'replan', nowMs, downgradeModel: String(row[1]) };
  if (code === CODE.uncounted) return { type: 'uncounted', nowMs };
  const state = decodeState(row, request);
  if (code === CODE.denied) return { type: 'denied', nowMs, state, ...decodeDenial(row, nowMs, request) };
  const plan = row[3] === 0 ? 'requested' : 'downgrade';
  if (code === CODE.cached) {
    const entry = String(row[4]);
    const storedStart = entry.indexOf(' ') + 1;
    const valueStart = entry.indexOf(' ', storedStart) + 1;
    const storedAtMs = Number(entry.slice(storedStart, valueStart - 1));
    return { type: 'cached', nowMs, state, plan, value: entry.slice(valueStart), storedAtMs };
  }
  return {
    type: 'admitted',
    nowMs,
    state,
    plan,
    spendWarning: WARNINGS[Number(row[4])],
    hotTierIncomplete: row[5] === 1,
  };
}

const WARNINGS = [undefined, 'customer_daily_spend', 'customer_monthly_spend'] as const;

function decodeState(row: readonly unknown[], request: AdmitRequest): LimitState {
  const bucket = request.keyBucket;
  return {
    rate: bucket && describeBucket(Number(row[1]), bucket.ratePerMinute, bucket.burst),
    projectSpentNanoUsd: Number(row[2]),
    customer:
      request.customerId === undefined
        ? undefined
        : {
            spentTodayNanoUsd: Number(row[6]),
            spentMonthNanoUsd: Number(row[7]),
            dailyLimitNanoUsd: limit(row[8]),
            monthlyLimitNanoUsd: limit(row[9]),
          },
  };
}

type Denial = Pick<
  Extract<AdmitDecision, { type: 'denied' }>,
  'reason' | 'retryAfterMs' | 'budget' | 'spend' | 'level'
>;

function decodeDenial(row: readonly unknown[], nowMs: number, request: AdmitRequest): Denial {
  const { budgets, levelLimits } = request;
  const reason = row[3] as DenialReason;
  if (reason === 'budget') return { reason, ...budgetDenial(budgets?.list[Number(row[4]) - 1], String(row[5])) };
  if (reason === 'project_cap' || reason === 'key_budget') {
    const [spentNanoUsd = 0, heldNanoUsd = 0] = String(row[5]).split(' ').map(Number);
    const limitNanoUsd = (reason === 'project_cap' ? request.projectCapNanoUsd : request.keyBudgetNanoUsd) ?? 0;
    return { reason, spend: { limitNanoUsd, spentNanoUsd, heldNanoUsd } };
  }
  if (reason === 'customer_daily_spend') return { reason, retryAfterMs: msToNextDay(nowMs) };
  if (reason === 'customer_monthly_spend' || reason === 'customer_count')
    return { reason, retryAfterMs: msToNextMonth(nowMs) };
  const wait = Number(row[4]);
  const level = levelLimits?.list[Number(row[5]) - 1]?.level;
  return { reason, ...(wait < 0 ? {} : { retryAfterMs: wait }), ...(level && { level }) };
}

/** `sums`: spend, holds, and what other projects' shares still claim. */
function budgetDenial(budget: Budget | undefined, sums: string): Pick<Denial, 'budget'> {
  const [spentNanoUsd = 0, heldNanoUsd = 0, keptNanoUsd] = sums.split(' ').map(Number);
  if (budget === undefined) return {};
  if (keptNanoUsd === undefined) return { budget: { ...budget, spentNanoUsd, heldNanoUsd } };
  const limitNanoUsd = Math.max(0, budget.limitNanoUsd - keptNanoUsd);
  return { budget: { ...budget, limitNanoUsd, spentNanoUsd, heldNanoUsd, keptNanoUsd } };
}
