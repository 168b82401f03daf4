import { encodeId } from '../hold';
import type { AdmitRequest } from '../hot-store';
import { apiKeyKey, customerKey, limitsKey, projectKey, type ShardKeys } from './keys';
import type { ScriptArg } from './scripts';

/** Prepared once for a key and customer: all that the scripts are told about them. */
export interface Account {
  readonly keys: ShardKeys;
  readonly projectId: string;
  readonly keyId: string;
  /** As `encodeId` gives it; '' = none. */
  readonly customer: string;
  /** Names for `lua/admit.lua`; `lua/commit.lua` takes the first three. */
  readonly names: readonly [project: string, key: string, customer: string, limits: string];
  /** Arguments for `lua/admit.lua` of the last request, by `argsOf`. */
  args: readonly ScriptArg[];
}

export function createAccount(
  keys: ShardKeys,
  { projectId, keyId, customer }: Pick<Account, 'projectId' | 'keyId' | 'customer'>,
): Account {
  const names = [projectKey(keys, projectId), apiKeyKey(keys, keyId)] as const;
  return {
    ...{ keys, projectId, keyId, customer, args: [] },
    names: [...names, customerKey(keys, projectId, customer), limitsKey(keys, projectId)],
  };
}

/** Place of the budgets among the arguments. A request with others names its own. */
export const BUDGETS = 15;

/** The same array while versions and limits stay: a group sends it once. */
export function argsOf(account: Account, request: AdmitRequest): readonly ScriptArg[] {
  const { args } = account;
  const { projectVersion, keyVersion, keyBucket, projectCapNanoUsd, keyBudgetNanoUsd, keyBudgetPeriod } = request;
  const { tokensPerMinute, maxConcurrency, maxCustomers, levelLimits } = request;
  const reloaded = request.reloaded ? '1' : '';
  const rate = keyBucket?.ratePerMinute ?? '';
  const burst = keyBucket?.burst ?? '';
  const cap = projectCapNanoUsd ?? '';
  const budget = keyBudgetNanoUsd ?? '';
  const tokens = tokensPerMinute ?? '';
  const open = maxConcurrency ?? '';
  const customers = maxCustomers ?? '';
  const levels = levelLimits?.text ?? '';
  const isVersion = args[2] === projectVersion && args[3] === keyVersion && args[4] === reloaded;
  const isRate = args[5] === rate && args[6] === burst && args[10] === tokens;
  const isSpend = args[7] === cap && args[8] === budget && args[9] === keyBudgetPeriod;
  if (isVersion && isRate && isSpend && args[11] === open && args[14] === customers && args[16] === levels) return args;
  const { projectId, keyId, customer } = account;
  const owner = `${projectId}\t${keyId}\t${customer}`;
  account.args = [
    ...[projectId, keyId, projectVersion, keyVersion, reloaded, rate, burst, cap, budget, keyBudgetPeriod],
    ...[tokens, open, customer, owner, customers, request.budgets?.text ?? '', levels],
  ];
  return account.args;
}

/** Accounts in use; the bound keeps a flood of customers from staying. */
const MOST = 2048;

/** Accounts by key and customer. */
export class Accounts {
  private readonly known = new Map<string, Account>();

  constructor(private readonly keysOf: (projectId: string) => ShardKeys) {}

  of(projectId: string, keyId: string, customerId: string | undefined): Account {
    const name = customerId === undefined ? keyId : `${keyId}\t${customerId}`;
    const known = this.known.get(name);
    if (known !== undefined && known.projectId === projectId) return known;
    if (this.known.size >= MOST) this.known.clear();
    const customer = customerId === undefined ? '' : encodeId(customerId);
    const account = createAccount(this.keysOf(projectId), { projectId, keyId, customer });
    this.known.set(name, account);
    return account;
  }
}
