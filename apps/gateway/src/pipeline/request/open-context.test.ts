import { describe, expect, test } from 'bun:test';
import { Held, Room } from '@llm0/core/async/room';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { passTraces } from '@llm0/core/tracing/request-trace';
import { openContext } from './open-context';

const services = { clock: { nowMs: () => 0, monotonicMs: () => 5 }, createId: () => 'id-1', tracing: passTraces };
const open = (headers: Record<string, string>) =>
  openContext(services, new Request('http://gateway.test/', { method: 'POST', headers }), {
    held: new Held(new Room()),
  });

describe('openContext', () => {
  test("makes its own id and keeps the client's", () => {
    const ctx = open({ 'X-Request-Id': 'mine' });
    expect([ctx.requestId, ctx.clientRequestId]).toEqual(['id-1', 'mine']);
  });

  test('labels are lower-cased, bounded in number and length; reserved names are none', () => {
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`X-LLM0-L${i}`, 'v']));
    expect(Object.keys(open(many).labels ?? {})).toHaveLength(16);
    const ctx = open({
      'X-LLM0-Feature': 'Search',
      'X-LLM0-Long': 'x'.repeat(500),
      'X-LLM0-Cache': 'off',
      'X-LLM0-Cache-TTL': '60',
      'X-LLM0-Drop-Params': 'true',
      'X-LLM0-Failover': ' Off ',
      'X-LLM0-Timeout-Ms': '1500',
      'X-LLM0-Run-Id': ' run:1 ',
    });
    expect(ctx.runId).toBe('run:1');
    expect(ctx.labels).toEqual({ feature: 'Search', long: 'x'.repeat(256) });
    expect(ctx.controls).toEqual({
      cache: 'off',
      cacheTtlSeconds: 60,
      cacheThreshold: undefined,
      dropParams: true,
      failover: 'off',
      timeoutMs: 1500,
    });
    for (const wrong of ['0', '-1', '', 'soon', '1e400']) {
      expect(() => open({ 'X-LLM0-Timeout-Ms': wrong })).toThrow(/X-LLM0-Timeout-Ms must be a number/);
    }
    expect(open({ 'X-LLM0-Failover': 'on' }).controls.failover).toBeUndefined();
    expect(() => open({ 'X-LLM0-Failover': 'no' })).toThrow(/must be "off"/);
  });

  test.each([
    [{ 'X-LLM0-Cache': 'refresh' }, 'refresh'],
    [{ 'Cache-Control': 'no-store' }, 'off'],
    [{ 'Cache-Control': 'max-age=0, no-cache' }, 'refresh'],
    [{ 'Cache-Control': 'max-age=10' }, 'normal'],
    [{}, 'normal'],
  ] as const)('%p means %s', (headers, mode) => {
    expect(open(headers as Record<string, string>).controls.cache).toBe(mode);
  });

  test.each([
    { 'X-LLM0-Cache': 'sometimes' },
    { 'X-LLM0-Run-Id': 'a b' },
    { 'X-LLM0-Run-Id': 'x'.repeat(129) },
    { 'X-LLM0-Cache-TTL': '-1' },
    { 'X-LLM0-Cache-Threshold': '2' },
  ])('%p is refused by name', (headers) => {
    expect(() => open(headers as unknown as Record<string, string>)).toThrow(GatewayError);
  });
});
