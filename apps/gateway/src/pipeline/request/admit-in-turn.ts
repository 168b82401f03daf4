// A wait holds no money: refused decisions charge nothing, and each try is a whole decision.

import { atLimit } from '@llm0/core/errors/unasked-provider';
import type { TurnWanted } from '@llm0/core/limits/turn-queue';
import { placeLane } from '@llm0/core/routing/places/slots';
import type { Target } from '@llm0/core/routing/target';
import type { Services } from '../../services/contract';
import type { Admission, AdmitInput, AdmitNeeds, Planned, Planner } from './admit';
import { admitInRun } from './admit-run';
import { AdmissionDenied } from './denials';
import { freePlace, reservePlace } from './reserve-place';

type Needs = AdmitNeeds & Pick<Services, 'turns'>;

/**
 * The decision. A project with `queue_timeout_ms` waits for its rate and concurrency limits, and for a place at a
 * provider: in order, until the time that the refusal names, and as long as that is allowed. Money is never waited for.
 */
export async function admitInTurn<R extends { readonly model: string }, P extends Planned, S>(
  services: Needs,
  input: AdmitInput<R>,
  planner: Planner<R, P, S>,
): Promise<Admission<P, S>> {
  const wanted = wantedBy(services, input);
  if (wanted === undefined) return admitInRun(services, input, planner);
  const { turns, clock } = services;
  const { held } = input.ctx;
  const startMs = clock.monotonicMs();
  const busy = lanesOf(input).find((lane) => turns.isBusy(lane));
  let turn = busy === undefined ? undefined : turns.join(busy, wanted);
  let passed = false;
  try {
    for (;;) {
      await turn?.mine();
      const full = reservePlace(services, { input, planner, lane: turn?.name });
      try {
        if (full !== undefined) throw atLimit(full);
        const admission = await admitInRun(services, input, planner);
        if (admission.decision.type === 'cached') freePlace(held);
        passed = true;
        return turn === undefined ? admission : { ...admission, queuedMs: clock.monotonicMs() - startMs };
      } catch (error) {
        freePlace(held);
        const refusal = refusalOf(error, input, full);
        const leftMs = turn?.isOver === true ? 0 : wanted.untilMs - clock.monotonicMs();
        const againMs = timeUntil(refusal?.waitMs, leftMs);
        if (refusal === undefined || againMs === undefined) throw error;
        if (turn?.name !== refusal.lane) {
          turn?.leave(false);
          turn = turns.join(refusal.lane, wanted);
        }
        if (turn === undefined) throw error;
        turn.denied(againMs);
      }
    }
  } finally {
    turn?.leave(passed);
  }
}

/** undefined where nothing waits. */
function wantedBy({ clock }: Needs, { httpRequest, principal, ctx }: AdmitInput<unknown>): TurnWanted | undefined {
  const { id: projectId, queueTimeoutMs } = principal.project;
  if (queueTimeoutMs === null || httpRequest === undefined) return undefined;
  const { timeoutMs = Number.POSITIVE_INFINITY } = ctx.controls;
  const untilMs = clock.monotonicMs() + Math.min(queueTimeoutMs, timeoutMs);
  return { projectId, untilMs, signal: httpRequest.signal };
}

/** Limits of the key, and of the customer. */
function lanesOf({ principal: { key, project }, ctx }: AdmitInput<unknown>): readonly [string, string] {
  return [key.id, `${project.id} ${ctx.customerId ?? ''}`];
}

interface Refusal {
  readonly lane: string;
  readonly waitMs: AdmissionDenied['waitMs'];
}

/** undefined for what no wait changes. `full`: there is no place at this target. */
function refusalOf(error: unknown, input: AdmitInput<unknown>, full: Target | undefined): Refusal | undefined {
  if (full !== undefined) return { lane: placeLane(full.provider), waitMs: 'unknown' };
  if (!(error instanceof AdmissionDenied) || error.kind !== 'rate_limit_exceeded') return undefined;
  const [ofKey, ofCustomer] = lanesOf(input);
  return { lane: error.param === 'customer' ? ofCustomer : ofKey, waitMs: error.waitMs };
}

/** A refusal names its time with the precision of the store's clock. */
const LEAST_MS = 5;
/** Another process may have ended a request meanwhile. */
const UNKNOWN_MS = 1000;

/** Milliseconds until the next try; undefined if that is too late, or time doesn't help. */
function timeUntil(waitMs: Refusal['waitMs'], leftMs: number): number | undefined {
  if (waitMs === undefined || leftMs <= 0) return undefined;
  if (waitMs === 'unknown') return Math.min(UNKNOWN_MS, leftMs);
  return waitMs <= leftMs ? Math.max(waitMs, LEAST_MS) : undefined;
}
