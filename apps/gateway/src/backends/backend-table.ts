// A backend with unreadable headers stays listed, and its requests fail with the reason. Others work.
import { BACKEND_DEFAULTS, type Backend } from '@llm0/core/backends/backend';
import type { SecretVault } from '@llm0/core/keys/secret-vault';
import type { StoredBackend } from '@llm0/drizzle/queries/routing/backends';
import type { EgressOptions } from '@llm0/providers/transport/egress/fetch-guarded';
import { createPinnedFetch } from '@llm0/providers/transport/egress/pinned-fetch';
import type { Logger } from 'pino';
import type { BackendSetting } from '../config/backends';
import type { ConnectedBackend } from './parts';

export interface BackendTableOptions {
  /** Backends from the environment may have any address. */
  readonly settings: readonly BackendSetting[];
  readonly vault: SecretVault;
  readonly egress: Pick<EgressOptions, 'allowedHosts' | 'allowedRanges'>;
  /** Decodes nothing. */
  readonly fetch: typeof globalThis.fetch;
  readonly monotonicMs: () => number;
  readonly log: Pick<Logger, 'warn'>;
}

interface Kept {
  readonly updatedAtMs: number;
  readonly backend: ConnectedBackend;
}

/** Backends from the environment and from Postgres; one that did not change is the same object after each reading. */
export class BackendTable {
  private backends: ReadonlyMap<string, ConnectedBackend>;
  private readonly own: ReadonlyMap<string, ConnectedBackend>;
  private readonly kept = new Map<string, Kept>();

  constructor(private readonly options: BackendTableOptions) {
    const { settings, fetch } = options;
    this.own = new Map(settings.map((one) => [one.name, { ...fromEnvironment(one), fetch }]));
    this.backends = this.own;
  }

  /** Current backends by name. */
  readonly current = (): ReadonlyMap<string, ConnectedBackend> => this.backends;

  isFromEnvironment(name: string): boolean {
    return this.own.has(name);
  }

  /** Loads the stored backends. Names from the environment take precedence. */
  load(rows: readonly StoredBackend[]): void {
    const stored = rows.map((row) => this.open(row));
    this.backends = new Map([...stored.map((one) => [one.name, one] as const), ...this.own]);
    const live = new Set(rows.map(({ id }) => id));
    for (const id of this.kept.keys()) if (!live.has(id)) this.kept.delete(id);
  }

  private open(row: StoredBackend): ConnectedBackend {
    const kept = this.kept.get(row.id);
    if (kept?.updatedAtMs === row.updatedAtMs) return kept.backend;
    const { egress, monotonicMs, fetch } = this.options;
    const headers = this.readHeaders(row);
    const { name, url, pricePerRequestNanoUsd, timeoutMs, retries, isActive } = row;
    const backend: ConnectedBackend = {
      ...{ name, url, pricePerRequestNanoUsd, timeoutMs, retries, isActive },
      headers: headers ?? {},
      forwardHeaders: row.forwardHeaders.map((one) => one.toLowerCase()),
      cache: { enabled: row.cacheEnabled, ttlSeconds: row.cacheTtlSeconds },
      isUnreadable: headers === undefined,
      revision: `${row.id} ${row.updatedAtMs}`,
      fetch: createPinnedFetch({ ...egress, provider: name, monotonicMs, fetch }),
    };
    this.kept.set(row.id, { updatedAtMs: row.updatedAtMs, backend });
    return backend;
  }

  private readHeaders(row: StoredBackend): Readonly<Record<string, string>> | undefined {
    try {
      return openHeaders(this.options.vault, row);
    } catch {
      this.options.log.warn({ backend: row.name }, 'the headers of a backend cannot be opened: it cannot be asked');
      return undefined;
    }
  }
}

/** In small letters. Throws where they were sealed with another key. */
export function openHeaders(
  vault: SecretVault,
  { id, encryptedHeaders: bytes, encryptionKeyId: keyId }: StoredBackend,
): Readonly<Record<string, string>> {
  if (bytes === null || keyId === null) return {};
  const headers = JSON.parse(vault.open({ bytes, keyId }, id)) as Record<string, string>;
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

const fromEnvironment = ({ name, url }: BackendSetting): Backend => ({
  ...{ name, url, headers: {}, forwardHeaders: [], pricePerRequestNanoUsd: 0, ...BACKEND_DEFAULTS },
  cache: { enabled: true, ttlSeconds: null },
  ...{ isActive: true, isUnreadable: false, revision: `environment ${url}` },
});
