import { expect, test } from 'bun:test';
import { sampleCall } from '@llm0/testing/stores/sample-call';
import { Metrics } from './metrics';

test('tool calls are counted by server, of which a hundred have a name; nothing names a key, run or tool', async () => {
  const metrics = new Metrics();
  for (let n = 0; n < 150; n++) metrics.observeToolCall(sampleCall({ server: `server-${n}`, costNanoUsd: 1e9 }));
  metrics.observeToolCall(sampleCall({ server: 'server-0', status: 'error', durationMs: 3, costNanoUsd: 0 }));
  const text = await metrics.registry.metrics();
  expect(text).toContain('llm0_tool_calls_total{server="server-0",status="success"} 1');
  expect(text).toContain('llm0_tool_calls_total{server="server-0",status="error"} 1');
  expect(text).toContain('llm0_tool_calls_total{server="other",status="success"} 50');
  expect(text).toContain('llm0_tool_call_cost_usd_total{server="other"} 50');
  expect(text).toContain('llm0_tool_call_duration_ms_bucket{le="5",server="server-0"} 1');
  expect(text).toContain('llm0_tool_call_duration_ms_count{server="server-0"} 2');
  expect(text.match(/^llm0_tool_calls_total\{/gm)).toHaveLength(102);
  const { projectId, apiKeyId, runId, tool } = sampleCall();
  for (const secret of [projectId, apiKeyId, runId, tool]) expect(text).not.toContain(secret);
});
