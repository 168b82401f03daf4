// Imports nothing, so that signals are taken before the rest of the program is loaded.

/** One Ctrl-C or stop may arrive several times: from the terminal or manager, and from the parent process. */
const SAME_SIGNAL_MS = 1000;

export interface ShutdownOptions {
  /** False where it reads the configuration again: see `HangUps`. */
  readonly onHangUp: boolean;
}

/** Runs the shutdown once; a later second signal ends the process at once. */
export function onShutdown(shutdown: (signal: string) => Promise<void>, { onHangUp }: ShutdownOptions): void {
  let firstMs: number | undefined;
  for (const signal of ['SIGTERM', 'SIGINT', ...(onHangUp ? (['SIGHUP'] as const) : [])] as const) {
    process.on(signal, () => {
      if (firstMs !== undefined) {
        if (performance.now() - firstMs > SAME_SIGNAL_MS) process.exit(1);
        return;
      }
      firstMs = performance.now();
      shutdown(signal).then(
        () => process.exit(0),
        (error: unknown) => {
          console.error(error);
          process.exit(1);
        },
      );
    });
  }
}

/** True if SIGHUP reads the configuration file again: with GATEWAY_CONFIG. */
export const readsFileOnHangUp = (env: Readonly<Record<string, string | undefined>>): boolean =>
  (env.GATEWAY_CONFIG ?? '').trim() !== '';

/** SIGHUPs that end nothing. One that comes before there is an answer is kept until then. */
export class HangUps {
  private act: (() => void) | undefined;
  private isDue = false;

  /** From now on, SIGHUP doesn't end the process. */
  take(): void {
    process.on('SIGHUP', () => {
      this.isDue = true;
      this.answerDue();
    });
  }

  /** Acts on all that follow, and once on those that came before. */
  answer(act: () => void): void {
    this.act = act;
    this.answerDue();
  }

  private answerDue(): void {
    if (!this.isDue || this.act === undefined) return;
    this.isDue = false;
    this.act();
  }
}
