import { inTime } from '@llm0/core/async/in-time';
import type { Logger } from 'pino';
import type { FetchSecret } from './fetch-secret';
import { parseReference, type SecretReference } from './secret-reference';

export interface LiveSecretsOptions {
  readonly fetch: FetchSecret;
  /** Age in milliseconds at which a secret without an end of its own is asked for again. */
  readonly refreshMs: number;
  readonly nowMs: () => number;
  /** Longest time in milliseconds that one question may take; default 5 s. */
  readonly askMs?: number;
  readonly log: Pick<Logger, 'warn' | 'info'>;
}

type Found = Awaited<ReturnType<FetchSecret>>;

interface Entry {
  readonly reference: SecretReference;
  text: string | undefined;
  /** Unix milliseconds of the next question on its own. */
  dueMs: number;
  /** Unix milliseconds of the next question after a refusal. */
  mayAskMs: number;
  failures: number;
  /** Why the last question failed. */
  problem: string | undefined;
  /** The last question took too long: requests wait for brief ones. */
  isSlow: boolean;
  /** Questions in a row that brought nothing new. */
  fruitless: number;
  /** Questions that began, and that ended. */
  begun: number;
  ended: number;
  asking: Promise<void> | undefined;
  /** A brief one, beside the one that may hang. */
  askingBriefly: Promise<void> | undefined;
}

const ASK_MS = 5000;
/** Pause between questions for a refused secret that stays the same, doubled up to the longest. */
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 250;
const FIRST_RETRY_MS = 1000;
const MAX_RETRY_MS = 30_000;
/** Part of the longest time that a question may take while the manager is slow and requests wait. */
const BRIEF = 0.1;
/** Part of its life after which an expiring secret is asked for again. */
const RENEWED_AT = 0.8;
const TICK_MS = 1000;

/**
 * Current texts of referenced secrets, in memory. While a secret manager is away, the last text stays in use: only the
 * provider that it belongs to can tell that it no longer works.
 */
export class LiveSecrets {
  private readonly entries = new Map<string, Entry>();
  private timer: ReturnType<typeof setInterval> | undefined;
  /** Called after a text has changed. */
  onChange: () => void = () => {};

  constructor(private readonly options: LiveSecretsOptions) {}

  /** Resolves when each of these was asked for at least once, and forgets all others. */
  async prepare(references: ReadonlySet<string>): Promise<void> {
    for (const known of this.entries.keys()) if (!references.has(known)) this.entries.delete(known);
    const added = [...references].filter((reference) => !this.entries.has(reference));
    await Promise.all(added.map((reference) => this.add(reference)));
    if (this.entries.size > 0) this.timer ??= setInterval(() => this.refreshDue(), TICK_MS);
    else this.stop();
  }

  /** The last known text; undefined before the first. */
  read(reference: string): string | undefined {
    return this.entries.get(reference)?.text;
  }

  /** True if the last question failed. */
  isAway(reference: string): boolean {
    return (this.entries.get(reference)?.failures ?? 0) > 0;
  }

  /** Why the last question failed; undefined if it didn't. */
  problemOf(reference: string): string | undefined {
    return this.entries.get(reference)?.problem;
  }

  /**
   * Another text than the refused one, if there is one by now. Never throws. All requests wait for one question; if it
   * takes too long, the next ones wait for brief ones only.
   */
  async renew(reference: string, refused: string | undefined): Promise<string | undefined> {
    const entry = this.entries.get(reference);
    if (entry === undefined) return undefined;
    // A question under way may have begun before the secret changed; the next one did not.
    const enough = entry.begun + 1;
    while (entry.text === refused && entry.ended < enough) {
      if (entry.isSlow) {
        for (let i = 0; i < 2 && entry.text === refused; i++) await this.askBriefly(entry);
        break;
      }
      const pauseMs = entry.mayAskMs - this.options.nowMs();
      if (entry.asking === undefined && pauseMs > 0) await Bun.sleep(pauseMs);
      else await this.ask(entry);
    }
    return entry.text === refused ? undefined : entry.text;
  }

  stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private async add(text: string): Promise<void> {
    const reference = parseReference(text);
    if (reference === undefined) return;
    const counts = { dueMs: 0, mayAskMs: 0, failures: 0, fruitless: 0, begun: 0, ended: 0 };
    const entry: Entry = {
      reference,
      ...counts,
      text: undefined,
      problem: undefined,
      isSlow: false,
      asking: undefined,
      askingBriefly: undefined,
    };
    this.entries.set(text, entry);
    await this.ask(entry);
  }

  private refreshDue(): void {
    const nowMs = this.options.nowMs();
    for (const entry of this.entries.values()) if (entry.dueMs <= nowMs) void this.ask(entry);
  }

  /** One question at a time. */
  private ask(entry: Entry): Promise<void> {
    entry.asking ??= this.askOnce(entry).finally(() => {
      entry.asking = undefined;
    });
    return entry.asking;
  }

  /** Finds a manager that is back before the next regular question does. */
  private askBriefly(entry: Entry): Promise<void> {
    const known = entry.text;
    entry.askingBriefly ??= this.fetchWithin(entry, BRIEF * (this.options.askMs ?? ASK_MS))
      .then((found) => {
        this.take(entry, found);
        if (entry.text !== known) this.onChange();
      })
      .catch(() => {})
      .finally(() => {
        entry.askingBriefly = undefined;
      });
    return entry.askingBriefly;
  }

  private fetchWithin({ reference }: Entry, limitMs: number): Promise<Found> {
    const tooLate = (): never => {
      throw new Error(`no answer within ${limitMs / 1000} s`);
    };
    // Some libraries ignore the signal.
    return inTime(this.options.fetch(reference, AbortSignal.timeout(limitMs)), limitMs, tooLate);
  }

  private take(entry: Entry, { text, expiresAtMs }: Found): void {
    const { refreshMs, nowMs, log } = this.options;
    const { kind, name } = entry.reference;
    entry.text = text;
    if (entry.failures > 0) log.info({ secret: `${kind}:${name}` }, 'the secret can be read again');
    entry.failures = 0;
    entry.problem = undefined;
    entry.isSlow = false;
    const lifeMs = expiresAtMs === undefined ? refreshMs : Math.max(0, (expiresAtMs - nowMs()) * RENEWED_AT);
    entry.dueMs = nowMs() + Math.max(TICK_MS, Math.min(refreshMs, lifeMs));
  }

  private async askOnce(entry: Entry): Promise<void> {
    const { nowMs, log, askMs = ASK_MS } = this.options;
    const { kind, name } = entry.reference;
    const known = entry.text;
    const wasMissing = known === undefined && entry.failures > 0;
    entry.begun += 1;
    const startMs = performance.now();
    try {
      this.take(entry, await this.fetchWithin(entry, askMs));
    } catch (error) {
      entry.failures += 1;
      entry.isSlow = performance.now() - startMs >= askMs / 2;
      entry.dueMs = nowMs() + Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** (entry.failures - 1));
      const reason = error instanceof Error ? error.message : String(error);
      entry.problem = reason;
      const state = known === undefined ? 'its key cannot be used yet' : 'the last known one stays in use';
      if (entry.failures === 1) log.warn({ secret: `${kind}:${name}`, reason }, `a secret cannot be read: ${state}`);
    }
    entry.ended += 1;
    entry.fruitless = entry.text === known ? entry.fruitless + 1 : 0;
    const pauseMs = entry.fruitless === 0 ? 0 : FIRST_PAUSE_MS * 2 ** (entry.fruitless - 1);
    entry.mayAskMs = nowMs() + Math.min(LONGEST_PAUSE_MS, pauseMs);
    if (entry.text !== known && (known !== undefined || wasMissing)) this.onChange();
  }
}
