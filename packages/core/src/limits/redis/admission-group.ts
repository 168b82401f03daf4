import { encodeId } from '../hold';
import type { AdmitPlan, AdmitRequest } from '../hot-store';
import { apiKeyKey, customerKey, limitsKey, projectKey, type ShardKeys } from './keys';
import type { ScriptArg } from './scripts';

/** Maximum of rows and characters in one script call, which blocks Redis for up to a millisecond. */
const MAX_ROWS = 48;
const MAX_CHARACTERS = 256 * 1024;

export interface GroupContext {
  readonly epoch: string;
  /** Version of the tables that the requests were planned with; '' = none was ever raised. */
  readonly tables: string;
  /** '' = the server's clock. */
  readonly clock: ScriptArg;
  readonly queueMaxEntries: number;
}

/** Instead of a key: the process has the answer itself. */
const ANSWERED = '+';

/** Requests of one turn and shard: keys and arguments of `lua/admit.lua`, in its order. */
export class AdmissionGroup<Member> {
  /** In the order of arrival, which is that of the reply's rows. */
  readonly members: Member[] = [];
  private readonly accounts = new Map<string, number>();
  private readonly accountKeys: string[] = [];
  private readonly accountArgs: ScriptArg[] = [];
  private readonly rows: ScriptArg[] = [];
  private characters = 0;

  constructor(
    readonly keys: ShardKeys,
    readonly context: GroupContext,
  ) {}

  get isFull(): boolean {
    return this.members.length >= MAX_ROWS || this.characters >= MAX_CHARACTERS;
  }

  add(request: AdmitRequest, member: Member): void {
    const { rows } = this;
    const { requested, downgrade } = request;
    rows.push(this.accountOf(request), request.requestId, downgrade === undefined ? 1 : 2);
    this.pushPlan(requested);
    if (downgrade !== undefined) this.pushPlan(downgrade);
    this.members.push(member);
  }

  encode(): ScriptArg[] {
    const { keys, accountKeys } = this;
    const { epoch, tables, clock, queueMaxEntries } = this.context;
    return [
      8 + accountKeys.length,
      keys.epoch,
      keys.tables,
      keys.log,
      keys.holds,
      keys.leases,
      keys.projects,
      keys.cache[0],
      keys.cache[4],
      ...accountKeys,
      epoch,
      tables,
      clock,
      queueMaxEntries,
      this.accounts.size,
      ...this.accountArgs,
      ...this.rows,
    ];
  }

  private pushPlan({ model, holdNanoUsd, lostNanoUsd, tokens, cacheKey, isAnswered, lostRecord }: AdmitPlan): void {
    const key = isAnswered === true ? ANSWERED : (cacheKey ?? '');
    this.rows.push(model, holdNanoUsd, lostNanoUsd, tokens, key, lostRecord);
    this.characters += lostRecord.length;
  }

  /** Arguments that a group sends once per key and customer. */
  private accountOf(request: AdmitRequest): number {
    const { projectId, keyId, projectVersion, keyVersion, reloaded, keyBucket } = request;
    const { projectCapNanoUsd, keyBudgetNanoUsd, keyBudgetPeriod, tokensPerMinute, maxConcurrency } = request;
    const customer = request.customerId === undefined ? '' : encodeId(request.customerId);
    const rate = keyBucket?.ratePerMinute ?? '';
    const burst = keyBucket?.burst ?? '';
    const owner = `${projectId}\t${keyId}\t${customer}`;
    const identity = `${owner}\n${projectVersion} ${keyVersion} ${reloaded} ${rate} ${burst} ${projectCapNanoUsd} ${keyBudgetNanoUsd} ${keyBudgetPeriod} ${tokensPerMinute} ${maxConcurrency} ${request.maxCustomers}`;
    const known = this.accounts.get(identity);
    if (known !== undefined) return known;
    const account = this.accounts.size;
    this.accounts.set(identity, account);
    const { keys } = this;
    this.accountKeys.push(
      projectKey(keys, projectId),
      apiKeyKey(keys, keyId),
      customerKey(keys, projectId, customer),
      limitsKey(keys, projectId),
    );
    this.accountArgs.push(projectId, keyId, projectVersion, keyVersion, reloaded ? '1' : '', rate, burst);
    this.accountArgs.push(projectCapNanoUsd ?? '', keyBudgetNanoUsd ?? '', keyBudgetPeriod, tokensPerMinute ?? '');
    this.accountArgs.push(maxConcurrency ?? '', customer, owner, request.maxCustomers ?? '');
    return account;
  }
}
