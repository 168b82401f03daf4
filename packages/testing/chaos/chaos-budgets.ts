import { allLogs, ask, postChat } from '../e2e/environment';
import { callAdmin, createTestKey, type GatewayProcess } from '../stores/start-gateway';

const TEAMS = ['blue', 'green'] as const;
const DAY_MS = 86_400_000;
/** A run never gets there: these budgets refuse nothing, and count through everything that breaks. */
const AMPLE_USD = 1_000;
const AMPLE = { daily_budget_usd: AMPLE_USD, weekly_budget_usd: AMPLE_USD };
const toNano = (usd: number) => Math.round(usd * 1e9);

interface ChaosBudget {
  readonly path: string;
  readonly field: string;
  readonly team?: string;
}

/** A project whose requests count in budgets of the project, its key and a label. */
export interface BudgetedKey {
  readonly projectId: string;
  readonly apiKey: string;
  readonly teams: typeof TEAMS;
  readonly budgets: readonly ChaosBudget[];
}

export async function createBudgetedKey(gateway: GatewayProcess): Promise<BudgetedKey> {
  const key = await createTestKey(gateway, { project: AMPLE, key: AMPLE });
  const [team] = TEAMS;
  const label = await callAdmin<{ id: string }>(gateway, '/label-budgets', {
    body: {
      project_id: key.projectId,
      label: 'team',
      value: team,
      daily_usd: AMPLE_USD,
      weekly_usd: AMPLE_USD,
      monthly_usd: AMPLE_USD,
    },
  });
  const owners = [`/projects/${key.projectId}`, `/projects/${key.projectId}/keys/${key.keyId}`];
  return {
    ...key,
    teams: TEAMS,
    budgets: [
      ...owners.flatMap((path) => Object.keys(AMPLE).map((field) => ({ path, field }))),
      ...['daily_usd', 'weekly_usd', 'monthly_usd'].map((field) => ({
        path: `/label-budgets/${label.id}`,
        field,
        team,
      })),
    ],
  };
}

/** Budgets that spent other than the rows of their period. A budget of nothing refuses, and tells what was spent. */
export async function unevenBudgets(gateway: GatewayProcess, key: BudgetedKey, nowMs: number): Promise<string[]> {
  const uneven: string[] = [];
  for (const { path, field, team } of key.budgets) {
    await callAdmin(gateway, path, { method: 'PATCH', body: { [field]: 0 } });
    const spentUsd = await spentOf(gateway, key);
    await callAdmin(gateway, path, { method: 'PATCH', body: { [field]: AMPLE_USD } });
    const from = new Date(startOf(field, nowMs)).toISOString();
    const rows = await allLogs(gateway, `project_id=${key.projectId}&from=${from}`);
    const counted = rows.filter(({ labels }) => team === undefined || labels?.team === team);
    const spent = counted.reduce((sum, { cost_usd }) => sum + toNano(cost_usd), 0);
    if (toNano(spentUsd) !== spent) uneven.push(`${path} ${field}: ${toNano(spentUsd)} spent, rows ${spent}`);
  }
  return uneven;
}

const TRIES = 5;

async function spentOf(gateway: GatewayProcess, { apiKey, teams }: BudgetedKey): Promise<number> {
  const [team] = teams;
  const headers = { 'x-llm0-team': team };
  for (let tries = 1; ; tries++) {
    const response = await postChat(gateway, apiKey, ask('How much is spent?'), { headers });
    const { error } = (await response.json()) as { error?: { spent_usd?: number } };
    if (error?.spent_usd !== undefined) return error.spent_usd;
    // A busy machine misses the deadline of a decision.
    if (response.status !== 503 || tries > TRIES) throw new Error(`a budget of nothing answered ${response.status}`);
    await Bun.sleep(1000);
  }
}

/** Start of the UTC day, week (Monday) or month. */
function startOf(field: string, nowMs: number): number {
  const dayMs = Math.floor(nowMs / DAY_MS) * DAY_MS;
  const day = new Date(dayMs);
  if (field.startsWith('daily')) return dayMs;
  if (field.startsWith('weekly')) return dayMs - ((day.getUTCDay() + 6) % 7) * DAY_MS;
  return dayMs - (day.getUTCDate() - 1) * DAY_MS;
}
