import { afterEach, describe, expect, test } from 'bun:test';
import type { GuardrailPolicy, GuardrailRule } from '@llm0/core/guardrails/policy';
import { openaiChat } from '../../dialects/openai-chat/index';
import { handleChat } from '../chat/handle-chat';
import { MODEL, openPipeline, type Pipeline, SECRET } from '../open-pipeline.fixture';

const EMAIL = 'ann@example.com';
const policyOf = (given: Partial<GuardrailRule>): GuardrailPolicy => ({
  ...{ mode: 'enforce', pseudonymScope: 'request', version: 1 },
  rules: [
    {
      ...{ name: 'mail', on: 'both', check: { type: 'pii', kinds: ['email'] }, action: 'redact', onError: 'block' },
      ...given,
    },
  ],
});

let pipeline: Pipeline;
afterEach(() => pipeline.close());

const requestOf = (body: object) =>
  new Request('http://gateway.test', {
    method: 'POST',
    headers: { authorization: `Bearer ${SECRET}` },
    body: JSON.stringify({ model: MODEL, ...body }),
  });
const ask = (content: string, body: object = {}) =>
  handleChat(pipeline.services, openaiChat, requestOf({ messages: [{ role: 'user', content }], ...body }));

describe('failures as providers report them', () => {
  const cases: [GuardrailRule['action'], boolean, () => Response][] = [];
  for (const action of ['redact', 'block', 'retry'] as const) {
    for (const stream of [false, true]) {
      cases.push([
        ...([action, stream] as const),
        () => Response.json({ error: { message: `bad ${EMAIL}`, param: EMAIL } }, { status: 400 }),
      ]);
      cases.push([action, stream, () => new Response(`bad ${EMAIL}`, { status: 400 })]);
    }
  }

  test.each(cases)(
    '%s, streamed %p: neither the caller nor the row gets what a rule finds',
    async (action, stream, script) => {
      pipeline = await openPipeline({ policy: policyOf({ on: 'output', action }) });
      pipeline.world.scripts = [script];
      const response = await ask('Hello.', { stream });
      const body = await response.text();
      expect([response.status, body.includes(EMAIL)]).toEqual([400, false]);
      expect(JSON.parse(body).error.code).toBe('upstream_rejected');
      expect(body.includes('[EMAIL]')).toBe(action === 'redact');
      const [row] = await pipeline.rows();
      expect(JSON.stringify(row)).not.toContain(EMAIL);
      expect(row?.guardrails).toMatchObject([{ on: 'output', rule: 'mail' }]);
    },
  );

  test.each(['redact', 'block'] as const)('in the middle of a stream: %s', async (action) => {
    pipeline = await openPipeline({ policy: policyOf({ on: 'output', action }) });
    const error = `data: ${JSON.stringify({ error: { message: `bad ${EMAIL}`, code: 400 } })}\n\n`;
    const text = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'Hello. ' } }] })}\n\n`;
    pipeline.world.scripts = [() => new Response(text + error, { headers: { 'content-type': 'text/event-stream' } })];
    const body = await (await ask('Hello.', { stream: true })).text();
    expect([body.includes('"error"'), body.includes(EMAIL)]).toEqual([true, false]);
    expect(JSON.stringify(await pipeline.rows())).not.toContain(EMAIL);
  });

  test('is left alone where nothing is asked of answers', async () => {
    pipeline = await openPipeline({ policy: policyOf({ on: 'input' }) });
    pipeline.world.scripts = [() => Response.json({ error: { message: `bad ${EMAIL}` } }, { status: 400 })];
    expect(await (await ask('Hello.')).text()).toContain(EMAIL);
  });
});

test('the first request that guardrails refuse which came meanwhile has what they found in its row', async () => {
  pipeline = await openPipeline();
  await (await ask('Hello.')).text();
  await pipeline.rows();
  pipeline.world.policy = policyOf({ action: 'block' });
  await pipeline.hotStore.setVersions('project', 2, []);
  pipeline.world.stored = { ...pipeline.world.stored, project: { ...pipeline.world.stored.project, version: 2 } };
  expect((await ask(EMAIL)).status).toBe(400);
  const [row] = await pipeline.rows();
  expect(row?.guardrails).toMatchObject([{ rule: 'mail', on: 'input', part: 'user', action: 'block', count: 1 }]);
});
