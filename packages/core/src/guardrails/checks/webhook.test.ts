import { describe, expect, test } from 'bun:test';
import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import type { GuardedPost, PostAnswer } from './check-needs';
import { judged, patient } from './judged-text.fixture';
import { checkWithWebhook } from './webhook';

const secret = new Uint8Array(32).fill(5);

function open(answer: unknown, status = 200, timeoutMs = 1000) {
  const sent: GuardedPost[] = [];
  const check = checkWithWebhook(
    { url: 'https://hooks.example/check', timeoutMs },
    {
      post: async (request, signal): Promise<PostAnswer> => {
        sent.push(request);
        if (answer === undefined) await new Promise((_, reject) => signal.addEventListener('abort', reject));
        return { status, body: typeof answer === 'string' ? answer : JSON.stringify(answer) };
      },
      webhookSecret: () => secret,
      nowMs: () => 1_700_000_000_500,
      createId: () => 'one',
    },
  );
  return { sent, judge: async (text: string, signal = patient) => check.judge(judged(text), signal) };
}

describe('payload of a webhook', () => {
  test('is the text with where it stands, signed as Standard Webhooks are', async () => {
    const { judge, sent } = open({ verdict: 'allow' });
    expect(await judge('héllo')).toEqual({ count: 0 });
    const [post] = sent;
    expect(JSON.parse(post?.body ?? '')).toEqual({
      type: 'guardrail.check',
      data: {
        ...{ on: 'input', part: 'user', text: 'héllo', request_id: 'request-1' },
        ...{ project_id: '00000000-0000-4000-8000-000000000001', api_key_id: '00000000-0000-4000-8000-000000000002' },
      },
    });
    const signed = createHmac('sha256', secret).update(`msg_one.1700000000.${post?.body}`).digest('base64');
    expect(post?.headers).toEqual({
      'content-type': 'application/json',
      'webhook-id': 'msg_one',
      'webhook-timestamp': '1700000000',
      'webhook-signature': `v1,${signed}`,
    });
  });
});

describe('verdict of a webhook', () => {
  test.each<[unknown, object]>([
    [{ verdict: 'allow' }, { count: 0 }],
    [{ verdict: 'match' }, { count: 1 }],
    [
      { verdict: 'match', count: 3, reason: 'Be kind.' },
      { count: 3, reason: 'Be kind.' },
    ],
    [
      { verdict: 'replace', text: '' },
      { count: 1, replacement: '' },
    ],
    [
      { verdict: 'replace', text: 'better', count: 2 },
      { count: 2, replacement: 'better' },
    ],
  ])('%j is a verdict', async (answer, verdict) => {
    expect(await open(answer).judge('a text')).toMatchObject(verdict);
  });

  test('positions count characters, not units', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: 'grapheme', minLength: 1 }), { minLength: 3, maxLength: 3 }),
        async ([before = '', found = '', behind = '']) => {
          const from = [...before].length;
          const spans = [[from, from + [...found].length]];
          const text = before + found + behind;
          fc.pre([...text].length === [...before].length + [...found].length + [...behind].length);
          const verdict = await open({ verdict: 'match', spans }).judge(text);
          expect(verdict.spans?.map(({ start, end }) => text.slice(start, end))).toEqual([found]);
        },
      ),
    );
  });

  test.each<[string, unknown]>([
    ['no JSON', 'ok'],
    ['no object', []],
    ['no verdict', {}],
    ['another verdict', { verdict: 'fine' }],
    ['no text', { verdict: 'replace' }],
    ['no count', { verdict: 'match', count: 0 }],
    ['spans that are none', { verdict: 'match', spans: [[2, 1]] }],
    [
      'spans that overlap',
      {
        verdict: 'match',
        spans: [
          [0, 2],
          [1, 3],
        ],
      },
    ],
    ['spans beyond the text', { verdict: 'match', spans: [[0, 99]] }],
    ['no spans', { verdict: 'match', spans: [] }],
  ])('%s is no verdict', async (_, answer) => {
    await expect(open(answer).judge('a text')).rejects.toThrow("the webhook's answer cannot be used");
  });

  test('a status other than 200 is no verdict, and neither is silence', async () => {
    await expect(open({ verdict: 'allow' }, 204).judge('x')).rejects.toThrow('status 204');
    await expect(open(undefined, 200, 20).judge('x')).rejects.toMatchObject({ name: 'TimeoutError' });
    await expect(open(undefined).judge('x', AbortSignal.timeout(20))).rejects.toMatchObject({ name: 'TimeoutError' });
  });
});

test.each([
  ['ftp://a.example', 100, '"url"'],
  ['nonsense', 100, '"url"'],
  ['https://u:p@a.example', 100, 'credentials'],
  ['https://a.example', 0, '"timeout_ms"'],
  ['https://a.example', 60_001, '"timeout_ms"'],
])('%s within %d ms is refused', (url, timeoutMs, words) => {
  expect(() => checkWithWebhook({ url, timeoutMs }, {} as never)).toThrow(words);
});
