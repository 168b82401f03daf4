import { expect, test } from 'bun:test';
import type { FinishReason } from '@llm0/core/chat/response';
import { endEvents } from './decode-answer';

test.each<[string, FinishReason]>([
  ['computer_call', 'tool_calls'],
  ['local_shell_call', 'tool_calls'],
  ['mcp_approval_request', 'tool_calls'],
  ['function_call', 'tool_calls'],
  ['web_search_call', 'stop'],
  ['code_interpreter_call', 'stop'],
])('an answer with a %s ends as %s', (type, reason) => {
  const events = endEvents({ status: 'completed', output: [{ type }] });
  expect(events).toContainEqual({ type: 'finish', choice: 0, reason });
});
