// Failures aren't cached; concurrent callers of the same question share the error.
import type { StatsAnswer, StatsQuestion, StatsReader } from './answer-stats';

/** Time for which tabs with the same range share an answer. */
const KEPT_MS = 20_000;
const MAX_ENTRIES = 500;
const MAX_BYTES = 16 * 2 ** 20;

interface Kept extends StatsAnswer {
  readonly kind: StatsQuestion['kind'];
  readonly askedAtMs: number;
}

export interface SharedAnswer extends StatsAnswer {
  /** Age of the data. */
  readonly ageMs: number;
}

/** Caches costly answers for 20 s and joins concurrent questions. */
export class StatsCache {
  /** By question, oldest first. */
  private readonly kept = new Map<string, Kept>();
  private readonly asking = new Map<string, Promise<Kept>>();
  private bytes = 0;
  private forgotten = 0;

  constructor(
    private readonly reader: StatsReader,
    private readonly clock: { monotonicMs(): number },
  ) {}

  /** `isFresh` skips the cache. */
  async answer(question: StatsQuestion, isFresh = false): Promise<SharedAnswer> {
    const key = JSON.stringify({ ...question, query: { ...question.query, nowMs: undefined } });
    const answer = isFresh ? await this.ask(key, question) : await this.find(key, question);
    return { ...answer, ageMs: this.clock.monotonicMs() - answer.askedAtMs };
  }

  /** Drops cached answers, so that a change shows at once. */
  forget(kind: StatsQuestion['kind']): void {
    for (const [key, answer] of this.kept) if (answer.kind === kind) this.drop(key);
    // An answer under way may precede the change, so later callers start a new one.
    this.asking.clear();
    this.forgotten += 1;
  }

  private find(key: string, question: StatsQuestion): Kept | Promise<Kept> {
    this.dropOld();
    return this.kept.get(key) ?? this.asking.get(key) ?? this.ask(key, question);
  }

  private async ask(key: string, question: StatsQuestion): Promise<Kept> {
    const askedAtMs = this.clock.monotonicMs();
    const forgotten = this.forgotten;
    const { kind } = question;
    const asked = this.reader.answer(question).then((answer) => ({ ...answer, kind, askedAtMs }));
    this.asking.set(key, asked);
    try {
      const answer = await asked;
      if (answer.isWorthKeeping && forgotten === this.forgotten) this.keep(key, answer);
      return answer;
    } finally {
      if (this.asking.get(key) === asked) this.asking.delete(key);
    }
  }

  private keep(key: string, answer: Kept): void {
    const before = this.kept.get(key);
    if (before !== undefined && before.askedAtMs > answer.askedAtMs) return;
    this.drop(key);
    if (sizeOf(key, answer) > MAX_BYTES / 4) return;
    this.kept.set(key, answer);
    this.bytes += sizeOf(key, answer);
    for (const oldest of this.kept.keys()) {
      if (this.kept.size <= MAX_ENTRIES && this.bytes <= MAX_BYTES) break;
      this.drop(oldest);
    }
  }

  private dropOld(): void {
    const oldestMs = this.clock.monotonicMs() - KEPT_MS;
    for (const [key, { askedAtMs }] of this.kept) if (askedAtMs <= oldestMs) this.drop(key);
  }

  private drop(key: string): void {
    const answer = this.kept.get(key);
    if (answer === undefined) return;
    this.kept.delete(key);
    this.bytes -= sizeOf(key, answer);
  }
}

const sizeOf = (key: string, { json }: StatsAnswer) => 2 * key.length + json.length;
