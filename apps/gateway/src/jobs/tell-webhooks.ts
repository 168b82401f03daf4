// A hanging webhook doesn't delay others; its further messages wait for the next run.

/** Calls under way at once. */
const MOST_AT_ONCE = 16;
/** A webhook that takes this long to fail gets no further message in the same run. */
const HANGING_MS = 5_000;

export interface Telling {
  readonly url: string;
  /** It failed last time, so others go first. */
  readonly failedBefore: boolean;
  /** Throws on failure. */
  readonly tell: () => Promise<void>;
  readonly onTold: () => Promise<void>;
  readonly onFailure: (error: unknown) => Promise<void>;
}

/** Notifies webhooks concurrently, and one URL in order. Throws errors of bookkeeping at the end. */
export async function tellWebhooks(tellings: readonly Telling[], hangingMs = HANGING_MS): Promise<void> {
  const queue = [...Map.groupBy(tellings, ({ url }) => url).values()].toSorted((a, b) => rank(a) - rank(b));
  const failures: unknown[] = [];
  const worker = async () => {
    for (let group = queue.shift(); group !== undefined; group = queue.shift()) {
      await tellInTurn(group, hangingMs).catch((error) => failures.push(error));
    }
  };
  await Promise.all(Array.from({ length: Math.min(MOST_AT_ONCE, queue.length) }, worker));
  if (failures.length > 0) throw failures[0];
}

const rank = (group: readonly Telling[]): number => Number(group.some(({ failedBefore }) => failedBefore));

async function tellInTurn(group: readonly Telling[], hangingMs: number): Promise<void> {
  let hung: Failed | null = null;
  for (const one of group) {
    const startMs = performance.now();
    const failed: Failed | null = hung ?? (await failureOf(one));
    if (failed === null) {
      await one.onTold();
      continue;
    }
    if (performance.now() - startMs >= hangingMs) hung = failed;
    await one.onFailure(failed.error);
  }
}

interface Failed {
  readonly error: unknown;
}

const failureOf = ({ tell }: Telling): Promise<Failed | null> =>
  tell().then(
    () => null,
    (error: unknown) => ({ error }),
  );
