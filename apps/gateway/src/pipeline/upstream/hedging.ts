import { inTime } from '@llm0/core/async/in-time';
import type { UpstreamStep } from './attempt';
import type { ChatAttempt, OpenedTarget } from './attempt-target';

/** The call, as hedging uses it. */
export interface HedgedCall {
  attempt(
    step: UpstreamStep,
    signal: AbortSignal,
    onBegin: (attempt: ChatAttempt) => void,
  ): Promise<OpenedTarget | undefined>;
  nextHedge(): UpstreamStep | undefined;
  supersede(attempt: ChatAttempt): void;
}

export interface HedgeJob {
  readonly step: UpstreamStep;
  /** Milliseconds without output until a second attempt starts in parallel. */
  readonly afterMs: number;
  readonly signal: AbortSignal;
}

export interface HedgeOutcome {
  /** undefined = all attempts failed. */
  readonly opened: OpenedTarget | undefined;
  /** A second attempt was begun: there is no third one at the same time. */
  readonly hedged: boolean;
}

/** One attempt, plus a second in parallel if the first output is late. Cancels the slower one at once. */
export async function hedgeAttempt(call: HedgedCall, { step, afterMs, signal }: HedgeJob): Promise<HedgeOutcome> {
  const first = launch(call, step, signal);
  const isLate = await inTime(
    first.result.then(() => false),
    afterMs,
    () => !signal.aborted,
  );
  const second = isLate ? call.nextHedge() : undefined;
  if (second === undefined) return { opened: await first.result, hedged: false };
  return { opened: await race(call, [first, launch(call, second, signal)]), hedged: true };
}

interface Runner {
  readonly controller: AbortController;
  readonly result: Promise<OpenedTarget | undefined>;
  readonly attempt: ChatAttempt | undefined;
  /** It failed by itself, and that was recorded. */
  hasFailed: boolean;
}

function launch(call: HedgedCall, step: UpstreamStep, signal: AbortSignal): Runner {
  const controller = new AbortController();
  const onBegin = (attempt: ChatAttempt) => {
    begun = attempt;
  };
  let begun: ChatAttempt | undefined;
  const result = call.attempt(step, AbortSignal.any([signal, controller.signal]), onBegin);
  const runner: Runner = { controller, result, attempt: begun, hasFailed: false };
  const noteFailure = () => {
    runner.hasFailed = true;
  };
  result.then((opened) => opened ?? noteFailure(), noteFailure);
  return runner;
}

/** The first that opens; undefined when none does. An error that ends the request ends both. */
async function race(call: HedgedCall, runners: readonly [Runner, Runner]): Promise<OpenedTarget | undefined> {
  const winner = Promise.withResolvers<Runner | undefined>();
  let failed = 0;
  for (const runner of runners) {
    runner.result.then((opened) => {
      if (opened !== undefined) winner.resolve(runner);
      else if (++failed === runners.length) winner.resolve(undefined);
    }, winner.reject);
  }
  let best: Runner | undefined;
  try {
    best = await winner.promise;
    return await best?.result;
  } finally {
    for (const runner of runners) if (runner !== best) cancel(call, runner);
  }
}

function cancel(call: HedgedCall, runner: Runner): void {
  if (runner.attempt !== undefined && !runner.hasFailed) call.supersede(runner.attempt);
  runner.controller.abort();
  // If both opened at once, the second answer is dropped unread.
  runner.result.then(
    (opened) => {
      if (opened !== undefined && 'next' in opened.batches) void opened.batches.return?.();
    },
    () => {},
  );
}
