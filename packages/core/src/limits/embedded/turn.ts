import type { Uncounted } from '../budgets';
import type { AdmitDecision, AdmitRequest } from '../hot-store';

/** A request that was decided, until the journal has it. */
export interface Decided {
  readonly decision: AdmitDecision | Uncounted;
  /** The decision's line in the journal; absent when it changes nothing. */
  readonly line?: number;
  /** Takes the decision back. */
  readonly undo?: () => void;
}

export interface TurnPorts {
  decide(request: AdmitRequest): Decided;
  /** Writes all lines that wait. Throws while the disk refuses. */
  write(): void;
  /** Is the line of this number written? */
  readonly has: (line: number) => boolean;
  /** The lines from this one on will never be written. */
  readonly takeBack: (line: number) => void;
  /** Runs at the end of each turn. Never throws. */
  onEnd(): void;
}

interface Asked {
  readonly request: AdmitRequest;
  readonly resolve: (decision: AdmitDecision | Uncounted) => void;
  readonly reject: (error: unknown) => void;
}

interface Pending extends Asked {
  readonly decided: Decided;
}

/**
 * One turn of the event loop: its requests are decided at the end in order of arrival, and written at once with the
 * endings. A request never waits for others.
 */
export class EmbeddedTurn {
  private asked: Asked[] = [];
  private ending: PromiseWithResolvers<void> | undefined;

  constructor(private readonly ports: TurnPorts) {}

  /** The turn ends soon. Resolves once all that was to be written is, or waits because the disk refuses. */
  open(): Promise<void> {
    if (this.ending === undefined) {
      this.ending = Promise.withResolvers<void>();
      setImmediate(this.end);
    }
    return this.ending.promise;
  }

  /** Rejects with `store_unavailable` when the decision could not be written: then it was none. */
  ask(request: AdmitRequest): Promise<AdmitDecision | Uncounted> {
    void this.open();
    return new Promise((resolve, reject) => this.asked.push({ request, resolve, reject }));
  }

  /** Ends the turn now. Never throws. */
  readonly end = (): void => {
    const { asked, ending } = this;
    if (ending === undefined) return;
    this.asked = [];
    this.ending = undefined;
    const pending = this.decideAll(asked);
    let refusal: unknown;
    let stands = pending.length;
    try {
      this.ports.write();
    } catch (error) {
      refusal = error;
      stands = this.undoUnwritten(pending);
    }
    for (const [i, { decided, resolve, reject }] of pending.entries()) {
      if (i < stands) resolve(decided.decision);
      else reject(refusal);
    }
    this.ports.onEnd();
    ending.resolve();
  };

  private decideAll(asked: readonly Asked[]): readonly Pending[] {
    const pending: Pending[] = [];
    for (const one of asked) {
      try {
        pending.push({ ...one, decided: this.ports.decide(one.request) });
      } catch (error) {
        one.reject(error);
      }
    }
    return pending;
  }

  /** Number of valid decisions. The first unwritten one invalidates later ones, which depend on it. */
  private undoUnwritten(pending: readonly Pending[]): number {
    const { has, takeBack } = this.ports;
    const first = pending.findIndex(({ decided: { line } }) => line !== undefined && !has(line));
    if (first === -1) return pending.length;
    for (const { decided } of pending.slice(first).reverse()) decided.undo?.();
    takeBack(pending[first]?.decided.line ?? 0);
    return first;
  }
}
