// bcrypt takes a fifth of a second of CPU time. It runs on its own threads, two at a time and one for each key.
// Repeated guesses are remembered, and a long queue rejects more.
import { LRUCache } from 'lru-cache';
import { hashSecret } from './api-key';

export interface LegacyCandidate {
  readonly apiKeyId: string;
  readonly bcryptHash: string;
}

const AT_ONCE = 2;
const MOST_WAITING = 32;
const FAILED_MS = 10 * 60_000;
const MOST_FAILED = 10_000;
/** bcrypt reads no further. */
const BCRYPT_BYTES = 72;

/** Identifies a key that only has a bcrypt hash. */
export class LegacyKeyVerifier {
  private readonly failed = new LRUCache<string, true>({ max: MOST_FAILED, ttl: FAILED_MS });
  private readonly verifying = new Map<string, Promise<LegacyCandidate | null>>();
  private readonly busy = new Set<string>();
  private readonly waiting: { readonly apiKeyId: string; readonly start: () => void }[] = [];

  constructor(private readonly verify: typeof Bun.password.verify = Bun.password.verify) {}

  /** `hash`: SHA-256 of the secret. null = none of them. Throws where too many others are waiting. */
  find(secret: string, hash: string, candidates: readonly LegacyCandidate[]): Promise<LegacyCandidate | null> {
    // Candidates belong to the question: a key that is taken over later deserves another look.
    const question = `${hash} ${candidates.map(({ apiKeyId }) => apiKeyId).join()}`;
    if (candidates.length === 0 || this.failed.has(question)) return Promise.resolve(null);
    const running = this.verifying.get(question);
    if (running !== undefined) return running;
    const search = this.search(secret, candidates)
      .then((found) => {
        if (found === null) this.failed.set(question, true);
        return found;
      })
      .finally(() => this.verifying.delete(question));
    this.verifying.set(question, search);
    return search;
  }

  private async search(secret: string, candidates: readonly LegacyCandidate[]): Promise<LegacyCandidate | null> {
    for (const candidate of candidates) {
      if (await this.inTurn(candidate, () => this.matches(secret, candidate.bcryptHash))) return candidate;
    }
    return null;
  }

  /** The Go project hashes the SHA-256 of the key, since bcrypt would cut the key; others hash short keys as they are. */
  private async matches(secret: string, bcryptHash: string): Promise<boolean> {
    const forms = [hashSecret(secret), ...(Buffer.byteLength(secret) <= BCRYPT_BYTES ? [secret] : [])];
    for (const form of forms) {
      if (await this.verify(form, bcryptHash, 'bcrypt').catch(() => false)) return true;
    }
    return false;
  }

  private async inTurn<T>({ apiKeyId }: LegacyCandidate, work: () => Promise<T>): Promise<T> {
    if (!this.isFree(apiKeyId)) {
      if (this.waiting.filter((one) => one.apiKeyId === apiKeyId).length >= MOST_WAITING) {
        throw new Error('too many unknown keys are being verified');
      }
      await new Promise<void>((start) => this.waiting.push({ apiKeyId, start }));
    } else this.busy.add(apiKeyId);
    try {
      return await work();
    } finally {
      this.busy.delete(apiKeyId);
      this.startNext();
    }
  }

  /** Guesses at one key occupy one thread, never both. */
  private isFree(apiKeyId: string): boolean {
    return this.busy.size < AT_ONCE && !this.busy.has(apiKeyId);
  }

  private startNext(): void {
    const index = this.waiting.findIndex(({ apiKeyId }) => this.isFree(apiKeyId));
    if (index < 0) return;
    const [next] = this.waiting.splice(index, 1);
    if (next === undefined) return;
    this.busy.add(next.apiKeyId);
    next.start();
  }
}
