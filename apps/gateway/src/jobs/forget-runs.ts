import { budgetId } from '@llm0/core/limits/budgets';
import { deleteOldRuns, forgottenRun, runsToForget } from '@llm0/drizzle/queries/limits/runs';
import type { Job } from './job';

const DAY_MS = 86_400_000;
const BATCH = 1000;

/** Drops counters of runs that are a day old: one that goes on is counted anew. Its row stays as long as the log. */
export function forgetRuns({ logRetentionDays }: { readonly logRetentionDays: number }): Job {
  return {
    name: 'forget_runs',
    intervalMs: 3_600_000,
    async run({ db, hotStore, nowMs }) {
      const now = nowMs();
      const forgotten = await runsToForget(db, now - DAY_MS, BATCH);
      for (const { id, projectId, runId } of forgotten) {
        await hotStore.forgetBudget(projectId, budgetId('run', { scope: 'run', runId }));
        await forgottenRun(db, id, now);
      }
      const deleted = await deleteOldRuns(db, now - logRetentionDays * DAY_MS);
      if (forgotten.length + deleted === 0) return null;
      return { message: `${forgotten.length} runs forgotten, ${deleted} deleted` };
    },
  };
}
