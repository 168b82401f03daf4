// Without Postgres, known keys keep working (every admission checks their versions); others wait for it.
import { LRUCache } from 'lru-cache';
import type { Principal } from './api-key';

export interface PrincipalSource {
  /** null = unknown key. Includes revoked keys and inactive projects, so that the caller can explain. */
  findByHash(hash: string): Promise<Principal | null>;
}

/** A principal and the hash it was found by. The same object until it is read again. */
export interface KnownPrincipal extends Principal {
  readonly keyHash: string;
}

export interface KeyCacheOptions {
  readonly source: PrincipalSource;
  /** Keys kept in memory. */
  readonly maxEntries?: number;
  /** Lifetime of a negative entry. */
  readonly unknownTtlMs?: number;
}

/**
 * Principals by key hash. Entries never grow old by time: `admit` compares their versions with the hot store's at every
 * request and asks for a reload when they differ.
 */
export class KeyCache {
  private readonly known: LRUCache<string, KnownPrincipal>;
  private readonly unknown: LRUCache<string, true>;
  private readonly loading = new Map<string, Promise<KnownPrincipal | null>>();
  private readonly following = new Map<string, Promise<KnownPrincipal | null>>();

  constructor(private readonly options: KeyCacheOptions) {
    this.known = new LRUCache({ max: options.maxEntries ?? 100_000 });
    this.unknown = new LRUCache({ max: 10_000, ttl: options.unknownTtlMs ?? 5_000 });
  }

  /** The cached principal, without waiting. */
  peek(hash: string): KnownPrincipal | undefined {
    return this.known.get(hash);
  }

  async find(hash: string): Promise<KnownPrincipal | null> {
    const cached = this.known.get(hash);
    if (cached !== undefined) return cached;
    if (this.unknown.has(hash)) return null;
    return this.loading.get(hash) ?? this.load(hash);
  }

  /** Reads the key again. A look-up that already runs may miss the change, so its callers share the one after it. */
  reload(hash: string): Promise<KnownPrincipal | null> {
    const running = this.loading.get(hash);
    if (running === undefined) return this.load(hash);
    const waiting = this.following.get(hash);
    if (waiting !== undefined) return waiting;
    const follow = () => {
      this.following.delete(hash);
      return this.loading.get(hash) ?? this.load(hash);
    };
    const next = running.then(follow, follow);
    this.following.set(hash, next);
    return next;
  }

  private load(hash: string): Promise<KnownPrincipal | null> {
    const load = this.options.source
      .findByHash(hash)
      .then((principal) => {
        const known = principal === null ? null : { ...principal, keyHash: hash };
        if (known === null) {
          this.known.delete(hash);
          this.unknown.set(hash, true);
        } else this.known.set(hash, known);
        return known;
      })
      .finally(() => this.loading.delete(hash));
    this.loading.set(hash, load);
    return load;
  }
}
