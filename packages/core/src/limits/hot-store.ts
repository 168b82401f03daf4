import type { BudgetPeriod } from '../keys/api-key';
import type { LogQueue } from '../logs/log-queue';
import type { BudgetSum, Level, LevelIds, RequestBudgets, Spend, SpentBudget } from './budgets';
import type { DenialReason } from './denial-reason';
import type { LevelLimits } from './level-limits';

/** Hold of one way to serve the request. */
export interface AdmitPlan {
  /** Requested model name (or the customer's downgrade model), the key of `modelLimits`. */
  readonly model: string;
  /** Integer nano-USD set aside on every budget until settlement. */
  readonly holdNanoUsd: number;
  /** The part of the hold the reaper books when the gateway process died (strict caps: all of it). */
  readonly lostNanoUsd: number;
  /** Token estimate for tokens-per-minute. */
  readonly tokens: number;
  /** The cap is absolute: the hold has to outlive the store's data. */
  readonly isAbsolute?: boolean;
  /** Exact-cache key to look up; absent = do not look. */
  readonly cacheKey?: string;
  /** This process has the answer: counts as an exact hit with an empty value. */
  readonly isAnswered?: true;
  /** Row for the reaper if the process dies: JSON of a `LogRecord`; the store sets `createdAtMs`. */
  readonly lostRecord: string;
}

/** A key and its project, and the versions of them that a process knows. */
export type PrincipalVersions = Pick<AdmitRequest, 'projectId' | 'keyId' | 'projectVersion' | 'keyVersion'>;

/** Everything one admission decision needs, in one message. All periods and times are the store's own. */
export interface AdmitRequest {
  readonly requestId: string;
  readonly projectId: string;
  readonly keyId: string;
  readonly keyVersion: number;
  readonly projectVersion: number;
  /** Set after a reload from Postgres: versions the store lacks, or older ones, are set to the given ones. */
  readonly reloaded: boolean;
  readonly keyBucket?: { readonly ratePerMinute: number; readonly burst: number };
  readonly customerId?: string;
  /** Different customers without limits of their own that the project may have in a month; null = any number. */
  readonly maxCustomers: number | null;
  readonly requested: AdmitPlan;
  /** Plan for the customer's downgrade model, when the caller believes there is one. */
  readonly downgrade?: AdmitPlan;
  /** null = no cap. Spend is counted either way. */
  readonly projectCapNanoUsd: number | null;
  readonly keyBudgetNanoUsd: number | null;
  readonly keyBudgetPeriod: BudgetPeriod;
  /** Further budgets of the key, the project and the labels; absent without any. */
  readonly budgets?: RequestBudgets | undefined;
  /** Of the levels above the project; absent without any. */
  readonly levelLimits?: LevelLimits | undefined;
  readonly tokensPerMinute: number | null;
  readonly maxConcurrency: number | null;
}

/** Limits after the decision, for the `X-RateLimit-*` and spend headers. */
export interface LimitState {
  /** The key's request bucket; absent without one. */
  readonly rate?: { readonly limit: number; readonly remaining: number; readonly resetMs: number };
  /** Settled spend of the project's month. */
  readonly projectSpentNanoUsd: number;
  readonly customer?: {
    readonly spentTodayNanoUsd: number;
    readonly spentMonthNanoUsd: number;
    readonly dailyLimitNanoUsd: number | null;
    readonly monthlyLimitNanoUsd: number | null;
  };
}

interface DecisionBase {
  /** The store's clock in epoch milliseconds. */
  readonly nowMs: number;
  readonly state: LimitState;
}

/** `principal`: key and project; `tables`: prices, aliases, chains and providers. */
export type StalePart = 'principal' | 'tables';

export type AdmitDecision =
  /** A hold is set. `spendWarning`: over a customer's limit but served (`warn`, or `downgrade` with that plan). */
  | (DecisionBase & {
      readonly type: 'admitted';
      readonly plan: 'requested' | 'downgrade';
      readonly spendWarning?: 'customer_daily_spend' | 'customer_monthly_spend';
      /** True when the hot tier may have evicted or lost this entry, so that the warm tier is worth asking. */
      readonly hotTierIncomplete: boolean;
    })
  /** Exact hit: request buckets were consumed, nothing is held. */
  | (DecisionBase & {
      readonly type: 'cached';
      readonly plan: 'requested' | 'downgrade';
      readonly value: string;
      readonly storedAtMs: number;
    })
  /** Nothing was charged. `retryAfterMs`: remaining time, if waiting helps. */
  | (DecisionBase & {
      readonly type: 'denied';
      readonly reason: DenialReason;
      readonly retryAfterMs?: number;
      /** With the reason `budget`. */
      readonly budget?: SpentBudget;
      /** With the reasons `project_cap` and `key_budget`. */
      readonly spend?: Spend;
      /** With the reasons of levels. */
      readonly level?: Level;
    })
  /** The caller's version is outdated or unknown to the store: read it from Postgres and retry. */
  | { readonly type: 'stale'; readonly nowMs: number; readonly what: StalePart }
  /** The customer's downgrade model is not the one of the given plan (null: there is none any more): plan again. */
  | { readonly type: 'replan'; readonly nowMs: number; readonly downgradeModel: string | null };

export interface CacheWrite {
  readonly key: string;
  readonly value: string;
  readonly ttlMs: number;
  /** For purging by them. */
  readonly provider: string;
  readonly model: string;
}

/** The end of a request: success, failure, abort, hit or denial alike. */
export interface Settlement {
  readonly requestId: string;
  readonly projectId: string;
  readonly keyId: string;
  readonly customerId?: string;
  /** `nowMs` of the decision: spend is booked in that day and month. */
  readonly admittedAtMs: number;
  /** False for hits and denials: no hold was set, only the record is queued. */
  readonly held: boolean;
  readonly costNanoUsd: number;
  /** Actual tokens, for tokens-per-minute. */
  readonly tokens: number;
  /** JSON of the `LogRecord`; its `id` is `requestId`, its `costNanoUsd` the settlement's. */
  readonly record: string;
  /** Of the admission. A level may set its budget later. */
  readonly levels?: LevelIds | undefined;
  readonly cache?: CacheWrite;
}

/** A customer's limits in the hot store; mirrors `customer_limits`. Absent or null = no limit. */
export interface CustomerLimits {
  readonly dailySpendNanoUsd: number | null;
  readonly monthlySpendNanoUsd: number | null;
  readonly perRequestMaxNanoUsd: number | null;
  readonly requestsPerMinute: number | null;
  readonly requestsPerHour: number | null;
  readonly requestsPerDay: number | null;
  /** Requests per UTC day by model name. */
  readonly modelRequestsPerDay: Readonly<Record<string, number>>;
  readonly onLimit: 'block' | 'downgrade' | 'warn';
  readonly downgradeModel: string | null;
}

/** A change of a reserve: the hold of an admission that stands for requests to come. */
export interface ReserveChange extends Pick<Settlement, 'requestId' | 'projectId' | 'keyId' | 'customerId'> {
  /** Nano-USD to which, or by which, it is lowered; it never rises. */
  readonly change: { readonly to: number } | { readonly by: number };
  /** It lives until then without renewals. */
  readonly untilMs: number;
}

export interface ProjectCounter {
  readonly projectId: string;
  /** `YYYY-MM` (UTC). */
  readonly month: string;
  readonly spentNanoUsd: number;
  readonly heldNanoUsd: number;
}

/** Spend to restore after data loss, from rows and roll-ups. Days and months are UTC `YYYY-MM[-DD]`. */
export interface RebuildData {
  readonly projectMonths: readonly { projectId: string; month: string; spentNanoUsd: number }[];
  readonly keyMonths: readonly { projectId: string; keyId: string; month: string; spentNanoUsd: number }[];
  readonly keyTotals: readonly { projectId: string; keyId: string; spentNanoUsd: number }[];
  readonly customerDays: readonly { projectId: string; customerId: string; day: string; spentNanoUsd: number }[];
  readonly customerMonths: readonly { projectId: string; customerId: string; month: string; spentNanoUsd: number }[];
  readonly customerLimits: readonly { projectId: string; customerId: string; limits: CustomerLimits }[];
  /** Expiry of the warm tier's last entry (0: empty); absent = unknown, assumed in a day. */
  readonly warmCacheUntilMs?: number;
}

/** Row that the reaper booked for a dead process's request. */
export interface LostBooking {
  readonly costNanoUsd: number;
  /** The admission's time: the day and month it was booked in. */
  readonly createdAtMs: number;
}

/** Sources of a rebuild outside the store; the composition root provides them. */
export interface RebuildSource {
  /** Writes these queue records to `gateway_logs` (idempotent by id); resolves after commit. */
  storeRecords(records: readonly string[]): Promise<void>;
  /**
   * Sums of all rows for the current and previous month (days: yesterday and today). Batches read earlier are refused
   * afterwards, and return by `handBack`.
   */
  loadSpend(nowMs: number): Promise<RebuildData>;
  /** Ids of an organization's or team's projects, or of a user's keys. */
  membersOf(owner: { readonly scope: Level; readonly levelId: string }): Promise<ReadonlySet<string>>;
  /** Σ cost of the budget's rows in its period, nano-USD. */
  sumBudget(sum: BudgetSum): Promise<number>;
  /** Requests that already have a row. */
  findStored(requests: readonly { id: string; createdAtMs: number }[]): Promise<ReadonlySet<string>>;
  /** Requests with the reaper's row only, and its amounts. */
  findLost(requests: readonly { id: string; createdAtMs: number }[]): Promise<ReadonlyMap<string, LostBooking>>;
}

export interface CachePurge {
  readonly projectId?: string;
  readonly provider?: string;
  readonly model?: string;
  readonly cacheKey?: string;
  readonly olderThanMs?: number;
}

export interface HotStoreHealth {
  readonly ok: boolean;
  readonly latencyMs?: number;
  readonly detail?: string;
}

/** The version of prices, aliases, chains and providers, which every admission compares. */
export interface TablesVersion {
  /** Makes a committed change of them hold from the very next request in every process. */
  raise(): Promise<void>;
  /** Reloads by `read`: earlier commits are known to this process afterwards. */
  refresh(read: () => Promise<void>): Promise<void>;
}

/**
 * Every request waits for this store exactly once. Failure policy: `admit` throws `store_unavailable` within 100 ms and
 * is never repeated. `settle` never throws or waits: failed settlements are journalled and retried, deduplicated by
 * request id.
 */
export interface HotStore extends LogQueue {
  /** Connects, learns shards and epoch, rebuilds lost counters, replays journals. Resolves when decisions are possible. */
  start(source: RebuildSource): Promise<void>;
  admit(request: AdmitRequest): Promise<AdmitDecision>;
  /**
   * Submits the end of a request. When the promise resolves (undefined: at once), it is sent or journalled and survives
   * this process. The answer waits for that, not for a reply. Never rejects.
   */
  settle(settlement: Settlement): Promise<void> | undefined;
  /** Extends the 60 s leases of live holds. */
  renew(holds: readonly { readonly projectId: string; readonly requestId: string }[]): Promise<void>;
  /**
   * Makes an admission's hold a reserve, or lowers one: nano-USD left, or undefined without one. A reserve takes no place
   * of its key's concurrency; at 0 it is gone without a row.
   */
  reserve(change: ReserveChange): Promise<number | undefined>;
  /** Books and logs expired holds; returns their number. */
  reap(): Promise<number>;
  /** Waits until every settlement handed over so far was taken by the store (or its journal), at most `timeoutMs`. */
  flush(timeoutMs: number): Promise<void>;

  /** Applies a change of a key or project to the very next request; never lowers a version. */
  setVersions(
    projectId: string,
    projectVersion: number | null,
    keys: readonly { keyId: string; version: number }[],
  ): Promise<void>;
  /** Outdated versions; checked before a refusal without an admission. Fails like `admit`. */
  findStale(known: PrincipalVersions): Promise<readonly StalePart[]>;
  readonly tables: TablesVersion;
  /** null removes the customer's limits. */
  setCustomerLimits(projectId: string, customerId: string, limits: CustomerLimits | null): Promise<void>;

  /** Recounts everything from the rows after an import; refuses decisions meanwhile. */
  recount(): Promise<void>;
  counters(): Promise<readonly ProjectCounter[]>;
  /** Of all requests under way; `money`: without those that hold nothing but their place. */
  openHolds(of?: 'money'): Promise<number>;
  keySpend(projectId: string, keyId: string, period: BudgetPeriod): Promise<number>;
  /** Drops the counter of a run; if it goes on, it is counted anew. */
  forgetBudget(projectId: string, id: string): Promise<void>;
  customerSpend(projectId: string, customerId: string): Promise<{ dayNanoUsd: number; monthNanoUsd: number }>;

  cacheWrite(projectId: string, entry: CacheWrite): void;
  /** Values of valid entries in the order of `keys`; all undefined if the store fails. */
  cacheRead(projectId: string, keys: readonly string[]): Promise<readonly (string | undefined)[]>;
  /** Removes matching entries; returns how many. */
  cachePurge(filter: CachePurge): Promise<number>;
  cacheStats(): Promise<{ readonly entries: number; readonly bytes: number }>;

  /** Notifies other processes of an outdated table (prices, aliases, …). */
  notify(topic: string): Promise<void>;
  /** Calls back on every `notify`, this process's own included; returns the unsubscriber. */
  onNotify(listener: (topic: string) => void): () => void;

  health(): Promise<HotStoreHealth>;
  readonly kind: 'redis' | 'embedded';
  /** False where projects are on several shards: one decision can't read a budget of several projects there. */
  readonly holdsLevels: boolean;
  close(): Promise<void>;
}
