import type { StoredBatch } from '@llm0/drizzle/queries/batches/batches';
import { moveBatch, readBatch } from '@llm0/drizzle/queries/batches/batches';
import {
  type ClaimedLine,
  claimLines,
  type LineResult,
  releaseLines,
  startLines,
  sumOpenLines,
} from '@llm0/drizzle/queries/batches/lines';
import type { Services } from '../services/contract';
import { isForwarded } from './forward-batch';
import { lowerHold } from './hold-batch';
import { isAskedAgain, LIMITS, LinePace } from './line-pace';
import type { Chunk } from './queue/batch-queue';
import { ResultWriter } from './result-writer';

/** An answer of the data plane to a line. */
export interface LineAnswer extends Omit<LineResult, 'line' | 'state'> {
  readonly code: string | undefined;
  readonly retryAfter: string | null;
}

export interface ChunkParts {
  readonly services: Pick<Services, 'batches' | 'hotStore' | 'log' | 'clock' | 'config'>;
  readonly batch: StoredBatch;
  readonly chunk: Chunk;
  readonly signal: AbortSignal;
  /** Serves a line as a request of the batch's key. */
  readonly ask: (line: ClaimedLine) => Promise<LineAnswer>;
}

/** A chunk that a limit holds up. */
export interface HeldUp {
  readonly waitMs: number;
  /** It let some lines through. */
  readonly wentOn: boolean;
  /** Lines for which the batch's hold was lowered already. */
  readonly drawn: readonly number[];
}

/** Waits from here on are not spent in this process: other batches get its place. */
const STAY_MS = 1000;

/**
 * Runs the open lines of a chunk within the limits of their key, some at a time. Returns where a limit holds up the rest.
 */
export async function runChunk(parts: ChunkParts): Promise<HeldUp | undefined> {
  const { services, batch, chunk } = parts;
  const { db } = services.batches;
  const owner = crypto.randomUUID();
  const lines = await claimLines(db, { ...chunk, batchId: batch.id, isOwn: isForwarded(batch) }, owner);
  if (lines.length === 0) return undefined;
  const inProgress = { status: 'in_progress', inProgressAtMs: services.clock.nowMs() } as const;
  await moveBatch(db, { id: batch.id, from: ['validating'] }, inProgress);
  // A run that died may have drawn for lines that it didn't end.
  await lowerHold(services, batch, { to: (await sumOpenLines(db, batch.id)).waitingNanoUsd });
  const run = new ChunkRun(parts, owner);
  // A vendor's results are paid for: neither the end of the batch nor its cancellation leaves one out.
  await run.run(
    lines.filter(({ resultAt }) => resultAt !== null),
    true,
  );
  await run.run(
    lines.filter(({ resultAt }) => resultAt === null),
    false,
  );
  await releaseLines(db, batch.id, owner);
  return run.heldUp;
}

class ChunkRun {
  private readonly pace: LinePace;
  private readonly results: ResultWriter;
  private readonly underWay = new Set<Promise<void>>();
  private isGone = false;
  private isPaid = false;
  private wentOn = false;
  private waitMs: number | undefined;
  private readonly drawn: Set<number>;

  constructor(
    private readonly parts: ChunkParts,
    private readonly owner: string,
  ) {
    const { services, batch, signal } = parts;
    this.drawn = new Set(parts.chunk.drawn);
    this.pace = new LinePace(() => services.clock.nowMs(), signal);
    this.results = new ResultWriter({
      ...{ db: services.batches.db, batchId: batch.id, owner, signal },
      onError: (err) => services.log.warn({ err, batch: batch.id }, 'results of a batch could not be written yet'),
    });
  }

  get heldUp(): HeldUp | undefined {
    const { waitMs, wentOn } = this;
    return waitMs === undefined ? undefined : { waitMs, wentOn, drawn: [...this.drawn] };
  }

  /** `isPaid`: a vendor has run them. */
  async run(lines: readonly ClaimedLine[], isPaid: boolean): Promise<void> {
    this.isPaid = isPaid;
    const { services, batch } = this.parts;
    const most = services.config.batchConcurrency;
    const group = Math.max(1, Math.floor(most / 2));
    try {
      for (let at = 0; at < lines.length; at += group) {
        if (!(await this.mayGoOn())) return;
        const wanted = lines.slice(at, at + group);
        const numbers = wanted.map(({ line }) => line);
        const started = await startLines(services.batches.db, batch.id, this.owner, numbers);
        const mine = wanted.filter(({ line }) => started.has(line));
        await this.draw(mine);
        for (const line of mine) this.begin(line);
        while (this.underWay.size > most - group) await Promise.race(this.underWay);
      }
    } finally {
      await Promise.all(this.underWay);
    }
  }

  /** The lines hold for themselves what the batch gives up, once. */
  private async draw(lines: readonly ClaimedLine[]): Promise<void> {
    const { services, batch } = this.parts;
    const fresh = lines.filter(({ line }) => !this.drawn.has(line));
    const by = fresh.reduce((sum, { boundNanoUsd }) => sum + boundNanoUsd, 0);
    if (by > 0) await lowerHold(services, batch, { by });
    for (const { line } of fresh) this.drawn.add(line);
  }

  private begin(line: ClaimedLine): void {
    const running = this.runLine(line).finally(() => this.underWay.delete(running));
    this.underWay.add(running);
  }

  private async runLine(line: ClaimedLine): Promise<void> {
    for (let tries = 1; ; tries++) {
      if (tries > 1 && !(await this.mayGoOn())) return;
      const { code, retryAfter, ...answer } = await this.parts.ask(line);
      const { httpStatus: status } = answer;
      if (!isAskedAgain({ status, code, tries, isPaid: this.isPaid })) {
        this.drawn.delete(line.line);
        this.wentOn = true;
        return this.results.add({ ...answer, line: line.line, state: status < 400 ? 'completed' : 'failed' });
      }
      const waitMs = this.pace.holdBack(retryAfter, tries);
      if (LIMITS.has(status) && waitMs >= STAY_MS) this.waitMs = Math.max(this.waitMs ?? 0, waitMs);
    }
  }

  /** Waits for limits; false once the batch or this process is at its end. */
  private async mayGoOn(): Promise<boolean> {
    const { services, batch, signal } = this.parts;
    while (this.pace.isHeldBack && this.waitMs === undefined && !this.isGone && !signal.aborted) {
      await this.pace.wait();
      if (this.isPaid) continue;
      const now = await readBatch(services.batches.db, batch.id).catch(() => batch);
      if (now === null || now.cancellingAtMs !== null) this.isGone = true;
    }
    if (this.waitMs !== undefined) return false;
    if (this.isPaid) return !signal.aborted;
    const isOver = batch.cancellingAtMs !== null || services.clock.nowMs() >= batch.expiresAtMs;
    return !(this.isGone || isOver || signal.aborted);
  }
}
