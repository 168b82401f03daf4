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

interface Entry {
  readonly reference: SecretReference;
  text: string | undefined;
  /** Unix milliseconds of the next question on its own. */
  dueMs: number;
  /** Unix milliseconds of the next question after a refusal. */
  mayAskMs: number;
  failures: number;
  /** The last question took too long, so that no request waits for the next one. */
  isSlow: boolean;
  /** Questions in a row that brought nothing new. */
  fruitless: number;
  /** Questions that began, and that ended. */
  begun: number;
  ended: number;
  asking: Promise<void> | undefined;
}

const ASK_MS = 5000;
/** Pause between questions for a refused secret that stays the same, doubled up to the longest. */
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 250;
const FIRST_RETRY_MS = 1000;
const MAX_RETRY_MS = 30_000;
/** Longest pause while requests need a newer secret. */
const WANTED_RETRY_MS = 5000;
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

  /**
   * Another text than the refused one, if there is one by now. Never throws. All requests wait for one question; if it
   * takes too long, none waits again until the manager answers.
   */
  async renew(reference: string, refused: string | undefined): Promise<string | undefined> {
    const entry = this.entries.get(reference);
    if (entry === undefined) return undefined;
    // A question under way may have begun before the secret changed; the next one did not.
    const enough = entry.begun + 1;
    while (entry.text === refused && entry.ended < enough) {
      const nowMs = this.options.nowMs();
      if (entry.isSlow) {
        entry.dueMs = Math.min(entry.dueMs, nowMs + WANTED_RETRY_MS);
        return undefined;
      }
      const pauseMs = entry.mayAskMs - nowMs;
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
    const entry: Entry = { reference, ...counts, text: undefined, isSlow: false, asking: undefined };
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

  private async askOnce(entry: Entry): Promise<void> {
    const { fetch, refreshMs, nowMs, log, askMs = ASK_MS } = this.options;
    const { kind, name } = entry.reference;
    const known = entry.text;
    const wasMissing = known === undefined && entry.failures > 0;
    entry.begun += 1;
    const startMs = performance.now();
    const tooLate = (): never => {
      throw new Error(`no answer within ${askMs / 1000} s`);
    };
    try {
      // Some libraries ignore the signal.
      const { text, expiresAtMs } = await inTime(fetch(entry.reference, AbortSignal.timeout(askMs)), askMs, tooLate);
      entry.text = text;
      if (entry.failures > 0) log.info({ secret: `${kind}:${name}` }, 'the secret can be read again');
      entry.failures = 0;
      entry.isSlow = false;
      const lifeMs = expiresAtMs === undefined ? refreshMs : Math.max(0, (expiresAtMs - nowMs()) * RENEWED_AT);
      entry.dueMs = nowMs() + Math.max(TICK_MS, Math.min(refreshMs, lifeMs));
    } catch (error) {
      entry.failures += 1;
      entry.isSlow = performance.now() - startMs >= askMs / 2;
      entry.dueMs = nowMs() + Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** (entry.failures - 1));
      const reason = error instanceof Error ? error.message : String(error);
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
