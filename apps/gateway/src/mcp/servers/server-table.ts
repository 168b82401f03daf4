// A server with unreadable secrets stays listed, and its calls fail with the reason. Others work.
import type { SecretVault } from '@llm0/core/keys/secret-vault';
import type { McpServer } from '@llm0/core/mcp/server';
import type { StoredMcpServer } from '@llm0/drizzle/queries/mcp/servers';
import type { ApprovedTool } from '@llm0/drizzle/queries/mcp/tools';
import type { Logger } from 'pino';

/** Encrypted fields of a server. */
export interface ServerSecrets {
  readonly headers?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  /** The token, the header's value or the client's secret. */
  readonly auth?: string;
}

/** Approved hash by tool. */
export type Pins = ReadonlyMap<string, string>;

const NO_PINS: Pins = new Map();

/** The servers as they are stored, opened; one that did not change is the same object after each reading. */
export class ServerTable {
  private servers: ReadonlyMap<string, McpServer> = new Map();
  private readonly kept = new Map<string, { readonly updatedAtMs: number; readonly server: McpServer }>();
  private pins = new Map<string, Pins>();

  constructor(
    private readonly vault: SecretVault,
    private readonly log: Pick<Logger, 'warn'>,
  ) {}

  /** Current servers by alias. */
  readonly current = (): ReadonlyMap<string, McpServer> => this.servers;

  /** The same object until an approval changes. */
  readonly pinsOf = (serverId: string): Pins => this.pins.get(serverId) ?? NO_PINS;

  /** Approvals read since the last full read. */
  keepPins(serverId: string, pins: Pins): Pins {
    const known = this.pinsOf(serverId);
    if (isEqual(pins, known)) return known;
    this.pins.set(serverId, pins);
    return pins;
  }

  load(rows: readonly StoredMcpServer[], approved: readonly ApprovedTool[]): void {
    const servers = rows.map((row) => this.open(row));
    const isSame = servers.length === this.servers.size && servers.every((one) => this.servers.get(one.alias) === one);
    if (!isSame) this.servers = new Map(servers.map((server) => [server.alias, server]));
    const live = new Set(rows.map(({ id }) => id));
    for (const id of this.kept.keys()) if (!live.has(id)) this.kept.delete(id);
    this.loadPins(approved);
  }

  private loadPins(approved: readonly ApprovedTool[]): void {
    const all = new Map<string, Map<string, string>>();
    for (const { serverId, name, hash } of approved) {
      const pins = all.get(serverId) ?? new Map<string, string>();
      pins.set(name, hash);
      all.set(serverId, pins);
    }
    this.pins = new Map([...all].map(([id, pins]) => [id, isEqual(pins, this.pinsOf(id)) ? this.pinsOf(id) : pins]));
  }

  private open(row: StoredMcpServer): McpServer {
    const kept = this.kept.get(row.id);
    if (kept?.updatedAtMs === row.updatedAtMs) return kept.server;
    const secrets = this.read(row);
    const server = toServer(row, secrets);
    this.kept.set(row.id, { updatedAtMs: row.updatedAtMs, server });
    return server;
  }

  private read(row: StoredMcpServer): ServerSecrets | undefined {
    try {
      return openSecrets(this.vault, row);
    } catch (err) {
      this.log.warn({ err, server: row.alias }, "an MCP server's secrets can't be decrypted: skipping it");
      return undefined;
    }
  }
}

/** Throws where they were sealed with another key. */
export function openSecrets(
  vault: SecretVault,
  { id, encryptedSecrets, encryptionKeyId }: StoredMcpServer,
): ServerSecrets {
  if (encryptedSecrets === null || encryptionKeyId === null) return {};
  return JSON.parse(vault.open({ bytes: encryptedSecrets, keyId: encryptionKeyId }, id)) as ServerSecrets;
}

const NEW_SERVER: Partial<StoredMcpServer> = {
  ...{ description: '', url: null, command: null, args: [], authType: 'none', authOptions: {} },
  ...{ encryptedSecrets: null, encryptionKeyId: null, allowedTools: null, blockedTools: [] },
  ...{ pricePerCallNanoUsd: 0, timeoutMs: 60_000, isActive: true },
};

/** A server that isn't stored yet, as it would be. */
export function openNewServer(vault: SecretVault, row: Partial<StoredMcpServer>): McpServer {
  const given = Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined));
  const whole = { ...NEW_SERVER, ...given } as StoredMcpServer;
  return toServer(whole, openSecrets(vault, whole));
}

function toServer(row: StoredMcpServer, secrets: ServerSecrets | undefined): McpServer {
  const { id, alias, description, transport, url, command, args, authType: auth } = row;
  const { allowedTools, blockedTools, pricePerCallNanoUsd, timeoutMs, isActive } = row;
  return {
    ...{ id, alias, description, transport, url, command, args, auth },
    ...{ allowedTools, blockedTools, pricePerCallNanoUsd, timeoutMs, isActive },
    env: secrets?.env ?? {},
    headers: { ...secrets?.headers, ...authHeader(row, secrets?.auth) },
    oauth: {
      clientId: row.authOptions.client_id ?? null,
      clientSecret: secrets?.auth,
      scope: row.authOptions.scope ?? null,
    },
    isUnreadable: secrets === undefined,
  };
}

/** In small letters, as all headers are sent: one that is given twice is never sent twice. */
function authHeader({ authType, authOptions }: StoredMcpServer, secret: string | undefined): Record<string, string> {
  if (secret === undefined) return {};
  if (authType === 'bearer') return { authorization: `Bearer ${secret}` };
  return authType === 'header' ? { [(authOptions.name ?? '').toLowerCase()]: secret } : {};
}

const isEqual = (one: Pins, other: Pins): boolean =>
  one.size === other.size && [...one].every(([name, hash]) => other.get(name) === hash);
