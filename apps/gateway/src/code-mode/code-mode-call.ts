/** `CallToolResult` of MCP. */
export interface CodeModeResult {
  readonly content: readonly { readonly type: 'text'; readonly text: string }[];
  readonly isError: boolean;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

export interface CodeModeCall {
  /** Aborted when the client disconnects: ends the run and cancels its calls. */
  readonly signal: AbortSignal;
  /** Shared by all calls of one script. */
  readonly runId: string;
  /** Before each call inside: how many there were, and the next one's name. */
  readonly progress?: (calls: number, message: string) => void;
}
