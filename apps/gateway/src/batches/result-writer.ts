// Postgres unreachable: results wait in memory and are written again; their lines count as under way until then.
import { interruptibleSleep } from '@llm0/core/async/interruptible-sleep';
import type { Db } from '@llm0/drizzle/client';
import { endLines, type LineResult } from '@llm0/drizzle/queries/batches/lines';

const RETRY_MS = 1000;

interface Written {
  readonly result: LineResult;
  readonly resolve: () => void;
}

/** Writes results as soon as they come; those that come during a write go together in the next one. */
export class ResultWriter {
  private waiting: Written[] = [];
  private isWriting = false;

  constructor(
    private readonly options: {
      readonly db: Db;
      readonly batchId: string;
      readonly owner: string;
      readonly signal: AbortSignal;
      readonly onError: (error: unknown) => void;
    },
  ) {}

  /** Resolves when the ledger has it, or at the end of this process. */
  add(result: LineResult): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.waiting.push({ result, resolve });
    if (!this.isWriting) void this.write();
    return promise;
  }

  private async write(): Promise<void> {
    const { db, signal, onError, ...of } = this.options;
    this.isWriting = true;
    while (this.waiting.length > 0) {
      const group = this.waiting.splice(0);
      try {
        await endLines(
          db,
          of,
          group.map(({ result }) => result),
        );
      } catch (error) {
        onError(error);
        this.waiting.unshift(...group);
        if (signal.aborted) break;
        await interruptibleSleep(RETRY_MS, signal);
        continue;
      }
      for (const { resolve } of group) resolve();
    }
    for (const { resolve } of this.waiting.splice(0)) resolve();
    this.isWriting = false;
  }
}
