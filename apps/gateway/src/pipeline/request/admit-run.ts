// Requests of a run wait for each other: a hold is mostly larger than the cost, and what is left over is the run's.
import { runStopped } from '@llm0/core/errors/gateway-error';
import { runBudget } from '@llm0/core/limits/budgets';
import { type Admission, type AdmitInput, type AdmitNeeds, admitPlanned, type Planned, type Planner } from './admit';
import { AdmissionDenied } from './denials';

/** Longest wait for requests that hold the rest of the budget. */
const WAIT_MS = 60_000;
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 400;

/** The decision, under the budget of its run where the caller names one. */
export function admitInRun<R extends { readonly model: string }, P extends Planned, S>(
  services: AdmitNeeds,
  input: AdmitInput<R>,
  planner: Planner<R, P, S>,
): Promise<Admission<P, S>> {
  const { runId, isSpent } = input.ctx;
  const isFree = runId === undefined || isSpent === true;
  return isFree ? admitPlanned(services, input, planner) : admitRun(services, input, planner);
}

/**
 * The decision for a request of a run. While others hold the rest of the budget, it waits. Near the end its output limit
 * shrinks to what is left. Without enough left, the run is paused and the request refused.
 */
async function admitRun<R extends { readonly model: string }, P extends Planned, S>(
  services: AdmitNeeds,
  input: AdmitInput<R>,
  planner: Planner<R, P, S>,
): Promise<Admission<P, S>> {
  const { runs, clock } = services;
  const { runId = '', controls } = input.ctx;
  let run = await runs.find({ principal: input.principal, runId, wantedNanoUsd: controls.runBudgetNanoUsd });
  const untilMs = clock.monotonicMs() + Math.min(WAIT_MS, controls.timeoutMs ?? WAIT_MS);
  let asked = input;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)) {
    if (run === null) return admitPlanned(services, input, planner);
    if (run.stoppedAtMs !== null) throw runStopped(runId);
    try {
      return await admitPlanned(services, asked, planner, runBudget(runId, run.budgetNanoUsd));
    } catch (error) {
      if (!(error instanceof AdmissionDenied) || error.kind !== 'run_budget_exceeded') throw error;
      const now = await runs.reload(run);
      const isSame = now?.budgetNanoUsd === run.budgetNanoUsd && now.stoppedAtMs === null;
      run = now;
      if (!isSame || run === null) continue;
      const leftNanoUsd = run.budgetNanoUsd - (error.budget?.spentNanoUsd ?? 0);
      const fits = (one: AdmitInput<R>) => planner.plan(services, one).admit.holdNanoUsd <= leftNanoUsd;
      if (!fits(asked)) {
        const request = planner.fit?.(input.request, planner.plan(services, input), leftNanoUsd);
        const smaller = request && { ...input, request };
        if (smaller === undefined || !fits(smaller)) {
          await runs.pause(run);
          throw error;
        }
        asked = smaller;
      } else {
        if (clock.monotonicMs() + pauseMs > untilMs || input.httpRequest?.signal.aborted === true) throw error;
        await Bun.sleep(pauseMs * (0.5 + Math.random() / 2));
      }
    }
  }
}
