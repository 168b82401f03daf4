import { type HostedTool, ToolCallError, type ToolHost, type ToolOutcome } from '@llm0/core/mcp/tool-host';
import type { CodeModeCall, CodeModeResult } from './code-mode-call';
import { SANDBOX_LIMITS } from './sandbox/sandbox-messages';
import type { SandboxPool } from './sandbox/sandbox-pool';
import type { SandboxCall, SandboxJob, SandboxOutcome } from './sandbox/sandbox-worker';

export interface ExecuteDeps {
  readonly pool: Pick<SandboxPool, 'run'>;
  /** Key of the run; one key gets at most half of the sandboxes. */
  readonly owner: string;
  /** Gateway failure: scripts don't see the details. */
  readonly onError: (error: unknown) => void;
}

export interface ExecuteCall extends CodeModeCall {
  readonly code: string;
}

const seconds = SANDBOX_LIMITS.timeMs / 1000;
const megabytes = SANDBOX_LIMITS.memoryBytes / 1024 / 1024;

/** Messages to the agent about a script that didn't end by itself. */
const REASONS = {
  time: `The script was ended after ${seconds} seconds. Do less in one script.`,
  memory: `The script was ended: it needs more than ${megabytes} MB. Keep less at once.`,
  depth: 'The script was ended: it, or its data, is nested too deeply.',
  stopped: 'The script was ended: its caller left.',
  busy: 'No sandbox is free. Try again in some seconds.',
  crashed: 'The sandbox crashed, and ended the script.',
} as const satisfies Partial<Record<SandboxOutcome['reason'], string>>;

/** Runs a script over the tools of `host`. A failure inside is a result with `isError` and the log so far. */
export async function executeCode(host: ToolHost, deps: ExecuteDeps, call: ExecuteCall): Promise<CodeModeResult> {
  const tools = namesByServer(await host.listTools());
  const outcome = await deps.pool.run({
    ...{ owner: deps.owner, code: call.code, tools, signal: call.signal },
    call: createCall(host, deps, call),
  });
  const isError = outcome.reason !== 'done';
  const text = outcome.reason === 'done' || outcome.reason === 'error' ? outcome.text : REASONS[outcome.reason];
  const logs =
    outcome.logs.length === 0 ? [] : [{ type: 'text' as const, text: `console:\n${outcome.logs.join('\n')}` }];
  return {
    content: [{ type: 'text', text }, ...logs],
    isError,
    _meta: {
      'llm0/run_id': call.runId,
      'llm0/ended': outcome.reason,
      'llm0/calls': outcome.calls,
      'llm0/duration_ms': Math.round(outcome.durationMs),
    },
  };
}

function namesByServer(tools: readonly HostedTool[]): SandboxJob['tools'] {
  const servers = new Map<string, string[]>();
  for (const { server, name } of tools) {
    const names = servers.get(server) ?? [];
    names.push(name);
    servers.set(server, names);
  }
  return [...servers];
}

function createCall(host: ToolHost, { onError }: ExecuteDeps, { runId, progress }: ExecuteCall): SandboxJob['call'] {
  let count = 0;
  return async ({ server, name, args, signal }: SandboxCall) => {
    progress?.(++count, `${server}.${name}`);
    const outcome = await callHost(host, { server, name, args, runId, signal }, onError);
    if (outcome.isError) throw new Error(textOf(outcome) ?? JSON.stringify(outcome.result));
    return JSON.stringify(scriptValue(outcome));
  };
}

async function callHost(
  host: ToolHost,
  call: Parameters<ToolHost['call']>[0],
  onError: (error: unknown) => void,
): Promise<ToolOutcome> {
  try {
    return await host.call(call);
  } catch (error) {
    if (error instanceof ToolCallError) throw error;
    if (!call.signal.aborted) onError(error);
    throw new Error('The gateway could not make this call.');
  }
}

/** Result for the script: structured content, else text, else everything. */
function scriptValue(outcome: ToolOutcome): unknown {
  const { structuredContent, content } = outcome.result;
  if (structuredContent !== undefined && structuredContent !== null) return structuredContent;
  return textOf(outcome) ?? { content: content ?? [] };
}

/** Undefined unless the result is text only. */
function textOf({ result }: ToolOutcome): string | undefined {
  if (!Array.isArray(result.content) || result.content.length === 0) return undefined;
  const texts = result.content.map((part: unknown) => {
    const { type, text } = (typeof part === 'object' && part !== null ? part : {}) as {
      type?: unknown;
      text?: unknown;
    };
    return type === 'text' && typeof text === 'string' ? text : undefined;
  });
  return texts.includes(undefined) ? undefined : texts.join('\n');
}
