import { expect, test } from 'bun:test';
import { formatUsdShort } from '@llm0/core/pricing/format-usd';
import fc from 'fast-check';
import { buildRowSpan } from './build-row-span';
import { storedRow } from './stored-row.fixture';

const PLAIN = { withBodies: false };

test('a row is one span with what Langfuse and Datadog read', () => {
  const row = storedRow({ id: '019ac7a0-1111-7222-8333-444455556666' });
  const span = buildRowSpan(row, PLAIN);
  const startMs = Date.parse('2026-11-26T10:33:37.123Z');
  expect(span).toMatchObject({
    ...{ traceId: '019ac7a0111172228333444455556666', spanId: '8333444455556666', kind: 'client' },
    ...{ name: 'chat gpt-one', startMs, endMs: startMs + 123.456 },
  });
  expect(span.error).toBeUndefined();
  expect(span.attributes).toMatchObject({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'aws.bedrock',
    'gen_ai.request.model': 'gpt-one',
    'gen_ai.usage.input_tokens': 10,
    'gen_ai.usage.output_tokens': 20,
    'gen_ai.usage.cache_read.input_tokens': 3,
    'gen_ai.usage.reasoning.output_tokens': 5,
    'user.id': 'c1',
    'session.id': 'run-1',
    'llm0.request.id': row.id,
    'llm0.requested_model': 'fast',
    'llm0.project.id': 'p',
    'llm0.label.team': 'search',
    'llm0.cost_usd': 0.000012345,
    'llm0.cache': 'miss',
    'llm0.failover.count': 1,
    'langfuse.observation.type': 'generation',
    'langfuse.observation.completion_start_time': '2026-11-26T10:33:37.168Z',
  });
  expect(JSON.parse(String(span.attributes['langfuse.observation.cost_details']))).toEqual({
    ...{ input: 0.000002345, input_cached_tokens: 0.000001, output: 0.000004, output_reasoning_tokens: 0.000005 },
    total: 0.000012345,
  });
});

test('a failure has its code; its words go out only with bodies', () => {
  const failed = { status: 'error', error_code: 'upstream_error', error_message: 'no "cocoa" here', http_status: 502 };
  const span = buildRowSpan(storedRow({ ...failed, request_body: { messages: [] } }), PLAIN);
  expect(span.error).toBe('upstream_error');
  expect(span.attributes['error.type']).toBe('upstream_error');
  expect(JSON.stringify(span)).not.toContain('cocoa');
  const told = buildRowSpan(storedRow(failed), { withBodies: true });
  expect(told.attributes['llm0.error.message']).toContain('cocoa');
});

test('prompts and answers go out only where the sink wants them', () => {
  const bodies = {
    request_body: { messages: [{ role: 'user', content: 'cocoa?' }] },
    response_body: { choices: [{ message: { role: 'assistant', content: 'cocoa!' } }] },
  };
  expect(JSON.stringify(buildRowSpan(storedRow(bodies), PLAIN))).not.toContain('cocoa');
  const { attributes } = buildRowSpan(storedRow(bodies), { withBodies: true });
  expect(JSON.parse(String(attributes['gen_ai.input.messages']))).toEqual([
    { role: 'user', parts: [{ type: 'text', content: 'cocoa?' }] },
  ]);
  expect(String(attributes['gen_ai.output.messages'])).toContain('cocoa!');
});

test('a plain backend has no model call', () => {
  const { attributes } = buildRowSpan(storedRow({ dialect: 'infer', requested_model: 'POST ocr' }), PLAIN);
  expect(Object.keys(attributes).filter((name) => name.startsWith('gen_ai.'))).toEqual([]);
  expect(attributes['langfuse.observation.type']).toBe('span');
});

test('the same row is the same span, and money is exact to the nano-dollar', () => {
  const hex = fc.stringMatching(/^[0-9a-f]{31}[1-9a-f]$/);
  const nano = fc.integer({ min: 0, max: 1_000_000_000_000 });
  fc.assert(
    fc.property(fc.uuid(), fc.option(hex), nano, fc.integer({ min: 0, max: 2 ** 31 }), (id, trace, cost, tokens) => {
      const usd = formatUsdShort(cost);
      // As Postgres writes a numeric.
      const text = JSON.stringify(storedRow({ id, trace_id: trace, tokens_in: tokens })).replace(
        /"cost_usd":[^,]+/,
        `"cost_usd":${usd}`,
      );
      const [span, again] = [buildRowSpan(JSON.parse(text), PLAIN), buildRowSpan(JSON.parse(text), PLAIN)];
      expect(again).toEqual(span);
      expect(span.traceId).toBe(trace ?? id.replaceAll('-', ''));
      expect(span.spanId).toMatch(/^[0-9a-f]{16}$/);
      expect(span.attributes['gen_ai.usage.input_tokens']).toBe(tokens);
      const { total } = JSON.parse(String(span.attributes['langfuse.observation.cost_details']));
      expect([total, span.attributes['llm0.cost_usd']]).toEqual([Number(usd), Number(usd)]);
      expect(Math.round(total * 1e9)).toBe(cost);
    }),
  );
});
