import type { AdmitPlan, AdmitRequest } from '../hot-store';
import { type Account, argsOf, BUDGETS } from './accounts';
import type { ShardKeys } from './keys';
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
