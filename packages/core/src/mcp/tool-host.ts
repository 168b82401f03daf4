/** A tool as a key may call it. */
export interface HostedTool {
  readonly server: string; // the alias
  readonly name: string; // the server's own
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema?: Readonly<Record<string, unknown>>;
}
export interface ToolOutcome {
  /** `content`, `structuredContent` and `isError` as the server gave them. */
  readonly result: Readonly<Record<string, unknown>>;
  readonly isError: boolean;
}
export interface HostedCall {
  readonly server: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly runId: string;
  readonly signal: AbortSignal;
}
/** Code Mode's view of a key's servers: calls obey the key's limits and are charged and logged like others. */
export interface ToolHost {
  listServers(): Promise<
    readonly { readonly alias: string; readonly description: string; readonly notice: string | null }[]
  >;
  listTools(): Promise<readonly HostedTool[]>;
  /** Throws `ToolCallError` with a message an agent can act on where nothing ran. */
  call(call: HostedCall): Promise<ToolOutcome>;
}
export class ToolCallError extends Error {
  constructor(
    message: string,
    readonly code: number,
  ) {
    super(message);
  }
}
