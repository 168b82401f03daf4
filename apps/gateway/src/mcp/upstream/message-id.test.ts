import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { nextMessageId, withClientId } from './message-id';

test('the message with another id is the same but for the id, or none at all', () => {
  const own = nextMessageId();
  const said = fc.oneof(
    fc.string(),
    fc.constant(own),
    fc.constant(`"${own}"`),
    fc.dictionary(fc.string(), fc.constant(own)),
  );
  fc.assert(
    fc.property(fc.array(said), fc.oneof(fc.string(), fc.integer()), fc.boolean(), (content, id, isFirst) => {
      const result = { content };
      const message = isFirst ? { jsonrpc: '2.0', id: own, result } : { result, jsonrpc: '2.0', id: own };
      const told = withClientId(JSON.stringify(message), own, id);
      if (told === undefined) expect(JSON.stringify(content)).toContain(own);
      else expect(JSON.parse(told)).toEqual({ jsonrpc: '2.0', id, result: JSON.parse(JSON.stringify(result)) });
    }),
  );
});

test('an id that is written in another way is none', () => {
  expect(withClientId('{"id":"\\u006clm0-1"}', 'llm0-1', 5)).toBeUndefined();
  expect(withClientId('{"id":"llm0-1","id":"llm0-1"}', 'llm0-1', 5)).toBeUndefined();
  expect(withClientId('{"id":"llm0-1"}', 'llm0-1', 5)).toBe('{"id":5}');
});
