import { expect, test } from 'bun:test';
import type { ChatRequest } from '../chat/request';
import type { ChatChoice } from '../chat/response';
import { mayCache, mayShare } from './cached-answer';

const TEXT: ChatChoice = { index: 0, text: 'fine', finishReason: 'stop' };
const CALL = { id: 'c', name: 'look', arguments: '{}' };

test.each<[string, ChatChoice[], boolean]>([
  ['text', [TEXT], true],
  ['no calls at all', [{ ...TEXT, toolCalls: [] }], true],
  ['a call', [{ ...TEXT, toolCalls: [CALL] }], false],
  ['a call beside text, under another finish', [{ ...TEXT, toolCalls: [CALL], finishReason: 'length' }], false],
  ['a call in the second choice', [TEXT, { ...TEXT, index: 1, toolCalls: [CALL] }], false],
  ['a call that our types do not hold', [{ ...TEXT, finishReason: 'tool_calls' }], false],
  ['a call as of old', [{ ...TEXT, messageExtra: { function_call: { name: 'look' } } }], false],
])('%s', (_, choices, isKept) => {
  expect(mayCache({ choices }, { cacheToolCalls: false })).toBe(isKept);
  expect(mayCache({ choices }, { cacheToolCalls: true })).toBe(true);
});

const REQUEST: ChatRequest = { model: 'm', messages: [], stream: false, extra: {} };
const TOOLS = [{ type: 'function', name: 'look' }] as const;

test.each<[string, ChatRequest, boolean]>([
  ['no tools', REQUEST, true],
  ['an empty list', { ...REQUEST, tools: [] }, true],
  ['tools', { ...REQUEST, tools: TOOLS }, false],
  ['tools that may not be called', { ...REQUEST, tools: TOOLS, toolChoice: { type: 'none' } }, true],
  ['functions as of old', { ...REQUEST, extra: { functions: [{ name: 'look' }] } }, false],
])('one answer for all with %s', (_, request, isShared) => {
  expect(mayShare(request, { cacheToolCalls: false })).toBe(isShared);
  expect(mayShare(request, { cacheToolCalls: true })).toBe(true);
});
