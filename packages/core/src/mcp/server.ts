export type McpTransport = 'http' | 'stdio';

/** Authentication of the gateway at a server. */
export type McpAuth = 'none' | 'bearer' | 'header' | 'oauth_client' | 'oauth_user';

/** Client metadata for authorization servers. */
export interface OauthSettings {
  /** null = by the gateway's own metadata document, or by registration. */
  readonly clientId: string | null;
  readonly clientSecret: string | undefined;
  /** null = the server's choice. */
  readonly scope: string | null;
}

/** An MCP server with decrypted secrets. */
export interface McpServer {
  readonly id: string;
  /** `a-z0-9-`, at most 32 characters: prefix of its tools. */
  readonly alias: string;
  /** For agents that choose among servers. */
  readonly description: string;
  readonly transport: McpTransport;
  readonly url: string | null;
  readonly command: string | null;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Includes the header from `auth`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly auth: McpAuth;
  readonly oauth: OauthSettings;
  /** Patterns; null = all. */
  readonly allowedTools: readonly string[] | null;
  readonly blockedTools: readonly string[];
  readonly pricePerCallNanoUsd: number;
  readonly timeoutMs: number;
  readonly isActive: boolean;
  /** Its secret was encrypted with another ENCRYPTION_KEY. */
  readonly isUnreadable: boolean;
}
