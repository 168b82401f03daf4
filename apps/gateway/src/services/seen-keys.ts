import { KeyCache, type KnownPrincipal } from '@llm0/core/keys/key-cache';

/** The keys of another cache as some of its readers see them. */
export class SeenKeys extends KeyCache {
  constructor(
    private readonly keys: KeyCache,
    private readonly see: (found: KnownPrincipal) => KnownPrincipal,
  ) {
    super({ source: { findByHash: (hash) => keys.find(hash) }, maxEntries: 1 });
  }

  override peek(hash: string): KnownPrincipal | undefined {
    const found = this.keys.peek(hash);
    return found === undefined ? undefined : this.see(found);
  }

  override async find(hash: string): Promise<KnownPrincipal | null> {
    const found = await this.keys.find(hash);
    return found === null ? null : this.see(found);
  }

  override async reload(hash: string): Promise<KnownPrincipal | null> {
    const found = await this.keys.reload(hash);
    return found === null ? null : this.see(found);
  }
}
