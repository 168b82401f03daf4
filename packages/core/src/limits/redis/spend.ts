// Without Redis, every method throws the client's error; no request waits for these.
import type { BudgetPeriod } from '../../keys/api-key';
import { encodeId } from '../hold';
import type { CustomerLimits, ProjectCounter } from '../hot-store';
import { dayIndex, MONTHS_KEPT, monthIndex, monthName } from '../periods';
import { apiKeyKey, customerKey, limitsKey, projectKey } from './keys';
import type { RedisLink } from './link';

/**
 * A customer's limits for `lua/customer_spend.lua`: six numbers ('' = none), action beyond them and downgrade model.
 * One line per model follows: name, tab, requests per day.
 */
export function encodeCustomerLimits(limits: CustomerLimits): string {
  const head = [
    limits.dailySpendNanoUsd,
    limits.monthlySpendNanoUsd,
    limits.perRequestMaxNanoUsd,
    limits.requestsPerMinute,
    limits.requestsPerHour,
    limits.requestsPerDay,
    limits.onLimit,
    limits.downgradeModel ?? '',
  ];
  const models = Object.entries(limits.modelRequestsPerDay).map(([model, perDay]) => `\n${model}\t${perDay}`);
  return head.map((value) => value ?? '').join(' ') + models.join('');
}

/** Counters and limits, as operators and jobs see and set them. */
export class RedisSpend {
  constructor(private readonly link: RedisLink) {}

  async setCustomerLimits(projectId: string, customerId: string, limits: CustomerLimits | null): Promise<void> {
    const shard = this.link.keysOf(projectId);
    const key = limitsKey(shard, projectId);
    await this.link.client.sadd(shard.projects, projectId);
    if (limits === null) await this.link.client.hdel(key, encodeId(customerId));
    else await this.link.client.hset(key, encodeId(customerId), encodeCustomerLimits(limits));
  }

  async forgetBudget(projectId: string, id: string): Promise<void> {
    const key = projectKey(this.link.keysOf(projectId), projectId);
    await this.link.client.hdel(key, `b${id}`, `bs${id}:1`, `bh${id}:1`);
  }

  async counters(nowMs: number): Promise<readonly ProjectCounter[]> {
    const now = monthIndex(nowMs);
    const months = Array.from({ length: MONTHS_KEPT + 1 }, (_, i) => now + 1 - i);
    const counters: ProjectCounter[] = [];
    for (const shard of this.link.shards) {
      for (const projectId of await this.link.client.smembers(shard.projects)) {
        const fields = months.flatMap((month) => [`s${month}`, `h${month}`]);
        const values = await this.link.client.hmget(projectKey(shard, projectId), ...fields);
        months.forEach((month, i) => {
          const [spent, held] = [values[i * 2] ?? null, values[i * 2 + 1] ?? null];
          if (spent === null && held === null) return;
          counters.push({ projectId, month: monthName(month), spentNanoUsd: Number(spent), heldNanoUsd: Number(held) });
        });
      }
    }
    return counters;
  }

  async openHolds(of?: 'money'): Promise<number> {
    const { client, shards } = this.link;
    // A hold begins with its money.
    const withMoney = async (key: string) => (await client.hvals(key)).filter((text) => !text.startsWith('0 ')).length;
    const counts = await Promise.all(
      shards.map(({ holds }) => (of === 'money' ? withMoney(holds) : client.hlen(holds))),
    );
    return counts.reduce((sum, count) => sum + count, 0);
  }

  async keySpend(
    keyId: string,
    projectId: string,
    { period, nowMs }: { period: BudgetPeriod; nowMs: number },
  ): Promise<number> {
    const field = period === 'total' ? 's' : `s${monthIndex(nowMs)}`;
    return Number(await this.link.client.hget(apiKeyKey(this.link.keysOf(projectId), keyId), field));
  }

  async customerSpend(
    projectId: string,
    customerId: string,
    nowMs: number,
  ): Promise<{ dayNanoUsd: number; monthNanoUsd: number }> {
    const key = customerKey(this.link.keysOf(projectId), projectId, encodeId(customerId));
    const [day, month] = await this.link.client.hmget(key, `sd${dayIndex(nowMs)}`, `s${monthIndex(nowMs)}`);
    return { dayNanoUsd: Number(day ?? 0), monthNanoUsd: Number(month ?? 0) };
  }
}
