import type { TextEmbedder } from '@llm0/core/embedding/built-in-embeddings';
import type { ToolHost } from '@llm0/core/mcp/tool-host';
import { ToolSearch } from '@llm0/core/mcp/tool-search';
import { type CodeModeTools, codeModeTools } from './code-mode-tools';
import { SandboxPool, type SandboxPoolOptions } from './sandbox/sandbox-pool';

/** Sandboxes and tool search of one process, for all keys. The first script starts them. */
export interface CodeMode {
  /** The three tools for one key's permissions; `owner`: the key's id. */
  toolsFor(host: ToolHost, owner: string): CodeModeTools;
  close(): void;
}

export interface CodeModeOptions {
  readonly embedder: TextEmbedder;
  readonly onError: (error: unknown) => void;
  readonly sandboxes?: SandboxPoolOptions;
}

export function createCodeMode({ embedder, onError, sandboxes }: CodeModeOptions): CodeMode {
  const pool = new SandboxPool(sandboxes);
  const search = new ToolSearch({ embedder });
  return {
    toolsFor: (host, owner) => codeModeTools(host, { pool, search, owner, onError }),
    close: () => pool.close(),
  };
}
