/** `CallToolResult` of MCP. */
export interface CodeModeResult {
  readonly content: readonly { readonly type: 'text'; readonly text: string }[];
  readonly isError: boolean;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

export interface CodeModeCall {
  /** Aborted when the client is gone: the run is killed, and what it called is cancelled. */
  readonly signal: AbortSignal;
  /** Shared by all calls of one script. */
  readonly runId: string;
  /** Before each call inside: how many there were, and the next one's name. */
  readonly progress?: (calls: number, message: string) => void;
}
