// A name that stands in one object twice: its reader may take either of the two, and only the last one was judged.
import { describe, expect, test } from 'bun:test';
import { GuardrailCompiler } from '@llm0/core/guardrails/compile-guardrails';
import type { GuardrailRule } from '@llm0/core/guardrails/policy';
import { RequestGuard } from '@llm0/core/guardrails/request-guard';
import type { CallAdmission, CallBooking } from '../../mcp/calls/call-booking';
import { guardCall } from '../../mcp/calls/guard-call';
import type { UpstreamAnswer, UpstreamPart } from '../../mcp/upstream/upstream';
import type { RequestContext } from '../request/open-context';
import { judgeNativeFailure } from './guard-failure';
import { judgeNativeAnswer } from './guard-native';

const KEY = 'ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8';

function guardrailsOf(action: GuardrailRule['action']) {
  const rule: GuardrailRule = { name: 'keys', on: 'both', check: { type: 'secrets' }, action, onError: 'block' };
  const policy = { mode: 'enforce', pseudonymScope: 'request', version: 1, rules: [rule] } as const;
  const guardrails = new GuardrailCompiler({}).compile({ policy, keyRules: null, pseudonymSecret: '' });
  if (guardrails === undefined) throw new Error('nothing is asked');
  return guardrails;
}

const guardOf = (action: GuardrailRule['action']): RequestGuard =>
  new RequestGuard(guardrailsOf(action), {
    ...{ projectId: 'p', keyId: 'k', requestId: 'r', customerId: undefined, monotonicMs: () => 0 },
  });

const doubled = (name: string, spelt = name) => `"${name}":"${KEY}","${spelt}":"ok"`;
const ANSWERS: Readonly<Record<string, string>> = {
  'OpenAI chat': `{"id":"x","choices":[{"index":0,"message":{"role":"assistant",${doubled('content')}}}]}`,
  'spelt with an escape': `{"choices":[{"message":{${doubled('content', '\\u0063ontent')}}}]}`,
  Responses: `{"output":[{"type":"message","content":[{"type":"output_text",${doubled('text')}}]}]}`,
  Anthropic: `{"type":"message","content":[{"type":"text",${doubled('text')}}]}`,
  Gemini: `{"candidates":[{"content":{"parts":[{${doubled('text')}}]}}]}`,
  'a list of events': `[{"candidates":[{"content":{"parts":[{${doubled('text')}}]}}]}]`,
};
const asStream = (json: string) => `event: e\ndata: {"choices":[]}\n\nevent: e\ndata: ${json}\n\ndata: [DONE]\n\n`;

describe.each(Object.entries(ANSWERS))('%s', (_name, json) => {
  test.each(['redact', 'block'] as const)('is told as it was read: %s', async (action) => {
    expect(await judgeNativeAnswer(guardOf(action), json, 'application/json')).toBe(JSON.stringify(JSON.parse(json)));
    const streamed = await judgeNativeAnswer(guardOf(action), asStream(json), 'text/event-stream');
    expect(streamed).toBe(asStream(JSON.stringify(JSON.parse(json))));
    expect(await judgeNativeFailure(guardOf(action), json)).toBe(JSON.stringify(JSON.parse(json)));
  });

  test('a policy that only watches changes nothing', async () => {
    expect(await judgeNativeAnswer(guardOf('flag'), json, 'application/json')).toBe(json);
    expect(await judgeNativeAnswer(guardOf('flag'), asStream(json), 'text/event-stream')).toBe(asStream(json));
  });
});

test('JSON without duplicate names is forwarded unchanged', async () => {
  const json = '{ "choices": [ {"message": {"content": "a\\u0062"}} ], "n": 1.0 }';
  expect(await judgeNativeAnswer(guardOf('block'), json, 'application/json')).toBe(json);
  expect(await judgeNativeAnswer(guardOf('block'), asStream(json), 'text/event-stream')).toBe(asStream(json));
});

/** What a client gets of one message of an MCP server. */
async function tellPart(action: GuardrailRule['action'], part: UpstreamPart): Promise<UpstreamPart | undefined> {
  const principal = { guardrails: guardrailsOf(action), key: { id: 'k' }, project: { id: 'p' } };
  const { judge } = await guardCall({ clock: { monotonicMs: () => 0 } } as Parameters<typeof guardCall>[0], {
    ctx: { requestId: 'r', controls: {} } as unknown as RequestContext,
    admission: { principal } as unknown as CallAdmission,
    booking: {} as unknown as CallBooking,
    ask: { method: 'tools/call', params: {}, signal: new AbortController().signal } as unknown as Parameters<
      typeof guardCall
    >[1]['ask'],
  });
  return judge({ next: async () => part } as unknown as UpstreamAnswer).next();
}

describe('a message of an MCP server', () => {
  const bodies = {
    response: `"id":"1","result":{"content":[{"type":"text",${doubled('text')}}]}`,
    'a field beside the result': `"id":"1","zz":"${KEY}","result":{"content":[]}`,
    notification: `"method":"notifications/message","params":{${doubled('data')}}`,
  };
  const partOf = (body: string): UpstreamPart & { readonly text: string } => {
    const text = `{"jsonrpc":"2.0",${body}}`;
    const { id, result, method, params } = JSON.parse(text);
    return method === undefined
      ? { kind: 'response', response: { id, result }, text }
      : { kind: 'notification', notification: { method, params }, text };
  };
  test.each(Object.entries(bodies))('%s', async (_name, body) => {
    for (const action of ['redact', 'block'] as const)
      expect(JSON.stringify(await tellPart(action, partOf(body)))).not.toContain(KEY);
    expect(await tellPart('flag', partOf(body))).toEqual(partOf(body));
  });

  test('goes on to the byte where each name stands once', async () => {
    const part = partOf('"id":"1", "result":{"content":[{"type":"text","text":"a\\u0062"}]}');
    expect(await tellPart('block', part)).toBe(part);
  });
});
