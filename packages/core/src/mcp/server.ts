export interface McpServer {
  readonly id: string;
  readonly alias: string;
  readonly transport: 'http' | 'stdio';
  readonly url: string | null;
  readonly command: string | null;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly auth: 'none' | 'bearer' | 'header' | 'oauth_client' | 'oauth_user';
  readonly allowedTools: readonly string[] | null;
  readonly blockedTools: readonly string[];
  readonly pricePerCallNanoUsd: number;
  readonly timeoutMs: number;
  readonly isActive: boolean;
}
