/** One Ctrl-C or stop may arrive several times: from the terminal or manager, and from the parent process. */
const SAME_SIGNAL_MS = 1000;

/**
 * Runs the shutdown once; a later second signal ends the process at once. With `onHangUp`, SIGHUP is no end: it reads
 * the configuration again.
 */
export function onShutdown(shutdown: (signal: string) => Promise<void>, onHangUp?: () => void): void {
  let firstMs: number | undefined;
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (signal === 'SIGHUP' && onHangUp !== undefined) {
        onHangUp();
        return;
      }
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
