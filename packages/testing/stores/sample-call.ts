import type { ToolCallRecord } from '@llm0/core/logs/tool-call-record';

/** A plain call that its tool answered; say what matters to the test. */
export function sampleCall(given: Partial<ToolCallRecord> = {}): ToolCallRecord {
  return {
    kind: 'tool_call',
    id: Bun.randomUUIDv7(),
    createdAtMs: Date.now(),
    projectId: '00000000-0000-4000-8000-000000000001',
    apiKeyId: '00000000-0000-4000-8000-0000000000a1',
    runId: 'run-1',
    serverId: '00000000-0000-4000-8000-0000000000f1',
    server: 'github',
    tool: 'create_issue',
    status: 'success',
    isError: false,
    durationMs: 12.5,
    bytesIn: 100,
    bytesOut: 2000,
    costNanoUsd: 1_000_001,
    ...given,
  };
}
