import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '@llm0/core/chat/json';
import type { ChatRequest } from '@llm0/core/chat/request';
import fc from 'fast-check';
import { countMarks, DroppedParameters } from '../translation/refuse-parameter';
import { withCacheMarks } from './cache-marks';

const mark = { type: 'ephemeral' };
const text = (word: string, marked = false) =>
  ({ type: 'text', text: word, ...(marked ? { cacheControl: mark } : {}) }) as const;
const base: ChatRequest = { model: 'claude-x', messages: [], stream: false, extra: {} };
const newDropped = () => new DroppedParameters({ dropParams: false, model: 'm' });

describe('marks for the prompt cache', () => {
  test('there are never more than may be, the latest stay, and what goes is told', () => {
    const message = fc.record({
      role: fc.constantFrom('system', 'user', 'assistant'),
      content: fc.array(
        fc.boolean().map((marked) => text('w', marked)),
        { maxLength: 3 },
      ),
    });
    const tool = fc
      .boolean()
      .map((marked) => ({ type: 'function', name: 'f', ...(marked ? { cacheControl: mark } : {}) }));
    fc.assert(
      fc.property(fc.array(message), fc.array(tool), fc.nat(4), fc.boolean(), (messages, tools, most, marksTools) => {
        const request = { ...base, messages, tools } as ChatRequest;
        const dropped = newDropped();
        const marked = withCacheMarks(request, { dropped, most, tools: marksTools });
        const offered = countMarks(marksTools ? request : { ...request, tools: [] });
        expect(countMarks(marked)).toBe(Math.min(most, offered));
        expect(dropped.names()).toEqual(countMarks(marked) < countMarks(request) ? ['cache_control'] : []);
        const turns = { messages: request.messages.filter(({ role }) => role !== 'system') };
        const keptTurns = { messages: marked.messages.filter(({ role }) => role !== 'system') };
        expect(countMarks(keptTurns)).toBe(Math.min(most, countMarks(turns)));
        expect(JSON.stringify(marked).replaceAll(`,"cacheControl":${JSON.stringify(mark)}`, '')).toBe(
          JSON.stringify(request).replaceAll(`,"cacheControl":${JSON.stringify(mark)}`, ''),
        );
      }),
    );
  });

  const conversation: ChatRequest = {
    ...base,
    messages: [
      { role: 'system', content: [text('rules')] },
      { role: 'user', content: [text('one')] },
      { role: 'assistant', content: [text('yes')] },
      { role: 'user', content: [text('two')] },
      { role: 'assistant', content: [], toolCalls: [{ id: 'c', name: 'f', arguments: '{}' }] },
      { role: 'tool', toolCallId: 'c', content: [text('done')] },
    ],
    tools: [{ type: 'function', name: 'f' }],
  };
  const markedTexts = ({ messages }: ChatRequest) =>
    messages.flatMap(({ content }) =>
      content.flatMap((part) => (part.type === 'text' && part.cacheControl !== undefined ? [part.text] : [])),
    );
  const hinted = (extra: JsonObject) => withCacheMarks({ ...conversation, extra }, { dropped: newDropped() });

  test('a hint sets them behind the rules and the last two turns; without one there are none', () => {
    expect(markedTexts(hinted({ prompt_cache_key: 'k' }))).toEqual(['rules', 'two', 'done']);
    expect(hinted({})).toEqual(conversation);
    expect(JSON.stringify(hinted({ prompt_cache_retention: '24h' }))).toContain('"ttl":"1h"');
    const { messages } = hinted({ prompt_cache_key: 'k', cache_control: mark });
    expect(messages).toEqual(conversation.messages);
  });

  test('the caller’s own count more than a hint', () => {
    const own: ChatRequest = {
      ...base,
      extra: { prompt_cache_key: 'k' },
      messages: [{ role: 'user', content: [text('a', true)] }],
    };
    expect(withCacheMarks(own, { dropped: newDropped() })).toBe(own);
  });
});
