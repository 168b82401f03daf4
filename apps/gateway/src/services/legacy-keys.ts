// Postgres unreachable: keys that were taken over and not used yet are refused with 503, all others are none of its business.
import { looksLikeKey } from '@llm0/core/keys/api-key';
import { LegacyKeyVerifier } from '@llm0/core/keys/legacy-key-verifier';
import type { Db } from '@llm0/drizzle/client';
import { adoptLegacyKey, type LegacyKey, listLegacyKeys } from '@llm0/drizzle/queries/access/legacy-keys';

/** Keys may be imported while this process runs, so it checks again after this time. */
const FRESH_MS = 5000;
/** Keys that begin alike: more are not tried. */
const MOST_CANDIDATES = 4;

/** Keys taken over from llm0-gateway: recognised by their bcrypt hash once, and by their SHA-256 from then on. */
export class LegacyKeys {
  private keys: readonly LegacyKey[] = [];
  private loadedAtMs = Number.NEGATIVE_INFINITY;
  private loading: Promise<void> | undefined;

  constructor(
    private readonly db: Db,
    private readonly verifier = new LegacyKeyVerifier(),
  ) {}

  /** False for secrets without the form of a key: they cost no look-up. */
  mayBeKey(secret: string): boolean {
    return looksLikeKey(secret) || this.isStale || this.keys.some(({ lookup }) => secret.startsWith(lookup));
  }

  /** True when the secret is a legacy key, which is known by its SHA-256 `hash` now. */
  async adopt(secret: string, hash: string): Promise<boolean> {
    if (this.isStale) await this.load();
    const candidates = this.keys.flatMap(({ apiKeyId, lookup, bcryptHash }) =>
      bcryptHash !== null && secret.startsWith(lookup) ? [{ apiKeyId, bcryptHash }] : [],
    );
    const found = await this.verifier.find(secret, hash, candidates.slice(0, MOST_CANDIDATES));
    if (found === null) return false;
    await adoptLegacyKey(this.db, found.apiKeyId, hash);
    return true;
  }

  private get isStale(): boolean {
    return performance.now() - this.loadedAtMs > FRESH_MS;
  }

  private load(): Promise<void> {
    this.loading ??= listLegacyKeys(this.db)
      .then((keys) => {
        this.keys = keys;
        this.loadedAtMs = performance.now();
      })
      .finally(() => {
        this.loading = undefined;
      });
    return this.loading;
  }
}
