// Postgres away: a request with an Idempotency-Key is refused, because running it could mean running it twice. An answer
// that can't be written yet is replayed from this process's memory and tried again until its claim is another's.

import { inTime } from '../../async/in-time';
import { untilGone } from '../../async/until-gone';
import { GatewayError } from '../../errors/gateway-error';
import type { CacheRoom } from '../cached-answer';

/** One key of one caller, with its claimant. */
export interface ClaimRef {
  readonly apiKeyId: string;
  readonly keyHash: string;
  /** UUID of the claiming request. */
  readonly owner: string;
}

export type ClaimOutcome =
  /** This owner has it, until its lease ends. */
  | { readonly type: 'claimed' }
  /** Another request has it right now. */
  | { readonly type: 'pending' }
  /** `answer`: in the codec's format. */
  | { readonly type: 'done'; readonly answer: string }
  /** The key belongs to another body. */
  | { readonly type: 'conflict' };

/** Shared claims and answers for 24 h. All calls throw without the store. */
export interface IdempotencyStore {
  claim(ref: ClaimRef, bodyHash: string, leaseMs: number): Promise<ClaimOutcome>;
  renew(refs: readonly ClaimRef[], leaseMs: number): Promise<void>;
  complete(ref: ClaimRef, answer: string): Promise<void>;
  release(ref: ClaimRef): Promise<void>;
}

/** Held by the request that produces the answer; it must end in exactly one of three ways. */
export interface IdempotencyClaim<A> {
  /** No key: nothing is stored. */
  readonly isNone?: true;
  /** A complete 2xx, stored for replays. Resolves when written, or late; undefined without storage. */
  complete(describe: () => A): Promise<void> | undefined;
  /** Frees the key; joined requests get the same error. */
  fail(error: GatewayError): void;
  /** Frees the key after a disconnect; one of the joined requests continues. */
  release(): void;
}

export type IdempotencyDecision<A> =
  | { readonly type: 'produce'; readonly claim: IdempotencyClaim<A> }
  | { readonly type: 'replay'; readonly answer: A };

/** Cache rules of one kind of answer. */
export interface AnswerCodec<A> {
  encode(answer: A): string;
  /** undefined for anything this version did not write. */
  decode(text: string, room?: CacheRoom): A | undefined | Promise<A | undefined>;
}

export interface IdempotentRequest {
  /** Memory for an answer that is replayed. */
  readonly room?: CacheRoom;
  readonly apiKeyId: string;
  /** The caller's own key, as sent. */
  readonly key: string;
  /** Hash of everything that makes the request another one. */
  readonly bodyHash: string;
  /** UUID of the request. */
  readonly requestId: string;
  /** The caller closed the connection. */
  readonly signal: AbortSignal;
}

export interface IdempotencyKeysOptions<A> {
  readonly store: IdempotencyStore;
  readonly codec: AnswerCodec<A>;
  /** Lifetime of a claim after its process dies; default 30 s. */
  readonly leaseMs?: number;
  /** Time-outs of a read from the store, and of a write. */
  readonly deadlineMs?: number;
  /** Polling interval of a key that another process claims. */
  readonly pollMs?: number;
}

type Ending<A> =
  | { readonly type: 'done'; readonly answer: A }
  | { readonly type: 'failed'; readonly error: GatewayError }
  | { readonly type: 'released' };

/** A key this process is busy with. */
interface Entry<A> {
  readonly ref: ClaimRef;
  readonly bodyHash: string;
  readonly ending: PromiseWithResolvers<Ending<A>>;
  /** True once the store confirms the claim: then its lease is renewed. */
  claimed: boolean;
  /** Set during the release of the key; resolves once it is free. New requests must not join the ended one. */
  freeing?: Promise<void>;
}

const LEASE_MS = 30_000;
const DEADLINE_MS = 2000;
const POLL_MS = 250;
const RETRY_MS = 1000;

/** One answer per `Idempotency-Key`: produced once, joined while under way, replayed for 24 h. */
export class IdempotencyKeys<A> {
  private readonly entries = new Map<string, Entry<A>>();
  private timer: ReturnType<typeof setInterval> | undefined;

  constructor(private readonly options: IdempotencyKeysOptions<A>) {}

  /** Keys this process is busy with. */
  get size(): number {
    return this.entries.size;
  }

  /**
   * Decides who runs. Waits for an identical request. Throws `idempotency_conflict`, `store_unavailable`,
   * `client_closed`, or the joined request's error.
   */
  async begin(request: IdempotentRequest): Promise<IdempotencyDecision<A>> {
    const keyHash = Bun.CryptoHasher.hash('sha256', request.key, 'hex');
    const id = `${request.apiKeyId} ${keyHash}`;
    for (;;) {
      const running = this.entries.get(id);
      if (running === undefined) {
        const ref = { apiKeyId: request.apiKeyId, keyHash, owner: request.requestId };
        const turn = await this.ask(id, ref, request);
        if (turn !== undefined) return turn;
        continue;
      }
      if (running.freeing !== undefined) {
        await untilGone(running.freeing, request.signal);
        continue;
      }
      if (running.bodyHash !== request.bodyHash) throw conflict();
      const ending = await untilGone(running.ending.promise, request.signal);
      if (ending.type === 'done') return { type: 'replay', answer: ending.answer };
      if (ending.type === 'failed') throw ending.error;
    }
  }

  stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  /** Asks the store until this request has its turn; others of this process wait for it meanwhile. */
  private async ask(
    id: string,
    ref: ClaimRef,
    request: IdempotentRequest,
  ): Promise<IdempotencyDecision<A> | undefined> {
    const { bodyHash, signal, room } = request;
    const entry: Entry<A> = { ref, bodyHash, ending: Promise.withResolvers<Ending<A>>(), claimed: false };
    this.entries.set(id, entry);
    const leave = (ending: Ending<A>) => {
      if (this.entries.get(id) === entry) this.entries.delete(id);
      entry.ending.resolve(ending);
    };
    try {
      for (;;) {
        const outcome = await this.claim(ref, bodyHash);
        if (outcome.type === 'claimed') {
          entry.claimed = true;
          this.keepLeases();
          return { type: 'produce', claim: this.createClaim(id, entry) };
        }
        if (outcome.type === 'conflict') throw conflict();
        if (outcome.type === 'done') {
          const answer = await this.options.codec.decode(outcome.answer, room);
          if (answer === undefined) throw unreadable();
          leave({ type: 'done', answer });
          return { type: 'replay', answer };
        }
        await untilGone(Bun.sleep(this.options.pollMs ?? POLL_MS), signal);
      }
    } catch (cause) {
      const error = cause instanceof GatewayError ? cause : unavailable(cause);
      leave(error.kind === 'client_closed' ? { type: 'released' } : { type: 'failed', error });
      throw error;
    }
  }

  /** A claim that arrives after its request ended is released. */
  private claim(ref: ClaimRef, bodyHash: string): Promise<ClaimOutcome> {
    const { store, leaseMs = LEASE_MS, deadlineMs = DEADLINE_MS } = this.options;
    let isLate = false;
    const asking = store.claim(ref, bodyHash, leaseMs).then((outcome) => {
      if (isLate && outcome.type === 'claimed') void store.release(ref).catch(() => {});
      return outcome;
    });
    return inTime(asking, deadlineMs, () => {
      isLate = true;
      throw unavailable();
    });
  }

  private createClaim(id: string, entry: Entry<A>): IdempotencyClaim<A> {
    const { store, codec, deadlineMs = DEADLINE_MS } = this.options;
    let ended = false;
    const endOnce = (work: () => Promise<void>): Promise<void> => {
      if (ended) return Promise.resolve();
      ended = true;
      return work();
    };
    const forget = () => {
      entry.claimed = false;
      this.entries.delete(id);
      if (this.entries.size === 0) this.stop();
    };
    const giveBack = (ending: Ending<A>) => () => {
      const released = store.release(entry.ref).catch(() => {});
      // An unresponsive store delays nobody here: its lease expires.
      entry.freeing = Promise.race([released, Bun.sleep(deadlineMs)]).finally(forget);
      entry.ending.resolve(ending);
      return entry.freeing;
    };
    return {
      complete: (describe) =>
        endOnce(async () => {
          const answer = describe();
          entry.ending.resolve({ type: 'done', answer });
          const written = this.writeUntilTaken(entry, codec.encode(answer)).finally(forget);
          await Promise.race([written, Bun.sleep(deadlineMs)]);
        }),
      fail: (error) => void endOnce(giveBack({ type: 'failed', error })),
      release: () => void endOnce(giveBack({ type: 'released' })),
    };
  }

  /** Renews the lease meanwhile; without renewal the claim is lost, and the write changes nothing. */
  private async writeUntilTaken(entry: Entry<A>, answer: string): Promise<void> {
    const { store, leaseMs = LEASE_MS } = this.options;
    const endMs = performance.now() + 2 * leaseMs;
    while (performance.now() < endMs) {
      try {
        return await store.complete(entry.ref, answer);
      } catch {
        await Bun.sleep(Math.min(RETRY_MS, leaseMs / 10));
      }
    }
  }

  private keepLeases(): void {
    const { store, leaseMs = LEASE_MS } = this.options;
    this.timer ??= setInterval(() => {
      const refs = [...this.entries.values()].filter((entry) => entry.claimed).map((entry) => entry.ref);
      // Tried again at the next tick: the lease outlives two of them.
      if (refs.length > 0) void store.renew(refs, leaseMs).catch(() => {});
    }, leaseMs / 3);
  }
}

function conflict(): GatewayError {
  return new GatewayError(
    'idempotency_conflict',
    'This Idempotency-Key was used with another request body within 24 hours. Use a new key for a new request.',
    { param: 'Idempotency-Key' },
  );
}

function unavailable(cause?: unknown): GatewayError {
  return new GatewayError(
    'store_unavailable',
    'The database for Idempotency-Keys is unreachable. Without it this request might run twice. ' +
      'Please retry, or send it without the header.',
    { retryAfterMs: 1000, cause },
  );
}

function unreadable(): GatewayError {
  return new GatewayError('internal', "The stored answer of this Idempotency-Key can't be read. Use a new key.");
}
