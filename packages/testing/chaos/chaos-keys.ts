import { callAdmin, createTestKey, type GatewayProcess } from '../stores/start-gateway';
import { type BudgetedKey, createBudgetedKey } from './chaos-budgets';

export const CUSTOMERS = ['block', 'downgrade', 'warn'] as const;
export const DOWNGRADE_MODEL = 'gpt-4.1-nano';

export interface ChaosKey {
  readonly projectId: string;
  readonly apiKey: string;
}

/** One project for each way of being limited. */
export interface ChaosKeys {
  readonly free: ChaosKey;
  /** A monthly cap that is soon reached. */
  readonly capped: ChaosKey;
  readonly strict: ChaosKey;
  /** A key with buckets, concurrency, tokens and a budget. */
  readonly limited: ChaosKey;
  /** Customers who reach their daily limits. */
  readonly customers: ChaosKey;
  readonly budgeted: BudgetedKey;
}

/** Made while everything still works. */
export async function createChaosKeys(gateway: GatewayProcess): Promise<ChaosKeys> {
  const customers = await createTestKey(gateway);
  for (const behaviour of CUSTOMERS) {
    await callAdmin(gateway, `/projects/${customers.projectId}/customers/${behaviour}/limits`, {
      method: 'PUT',
      body: {
        daily_spend_limit_usd: 0.002,
        requests_per_minute: 600,
        on_limit_behavior: behaviour,
        ...(behaviour === 'downgrade' ? { downgrade_model: DOWNGRADE_MODEL } : {}),
      },
    });
  }
  return {
    free: await createTestKey(gateway),
    capped: await createTestKey(gateway, { project: { monthly_cap_usd: 0.004, cache_enabled: false } }),
    strict: await createTestKey(gateway, {
      project: { monthly_cap_usd: 1, strict_caps: true, default_output_tokens: 100 },
    }),
    limited: await createTestKey(gateway, {
      key: {
        rate_limit_per_minute: 300,
        rate_limit_burst: 20,
        tokens_per_minute: 40_000,
        max_concurrency: 3,
        budget_usd: 0.01,
        budget_period: 'month',
      },
    }),
    customers,
    budgeted: await createBudgetedKey(gateway),
  };
}
