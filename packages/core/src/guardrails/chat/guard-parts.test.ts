import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '../../chat/json';
import type { ChatRequest, ContentPart } from '../../chat/request';
import { GuardrailCompiler } from '../compile-guardrails';
import type { GuardrailRule } from '../policy';
import { RequestGuard } from '../request-guard';
import { guardNativeAnswer, guardNativeRequest } from './guard-native';
import { guardRequest } from './guard-request';
import { guardToolResult } from './guard-tool-result';

const EMAIL = 'bob.smith@corp-example.com';
const GITHUB = 'ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8';
const base64 = (text: string) => Buffer.from(text).toString('base64');
const unbase64 = (text: string) => Buffer.from(text.slice(text.indexOf(',') + 1), 'base64').toString();

function guardOf(action: GuardrailRule['action'] = 'redact'): RequestGuard {
  const all = { on: 'both', action, onError: 'block' } as const;
  const rules: GuardrailRule[] = [
    { ...all, name: 'pii', check: { type: 'pii' } },
    { ...all, name: 'keys', check: { type: 'secrets' }, action: action === 'pseudonymise' ? 'redact' : action },
  ];
  const policy = { mode: 'enforce', pseudonymScope: 'request', version: 1, rules } as const;
  const guardrails = new GuardrailCompiler({}).compile({ policy, keyRules: null, pseudonymSecret: 'secret' });
  if (guardrails === undefined) throw new Error('nothing is asked');
  return new RequestGuard(guardrails, {
    ...{ projectId: 'p', keyId: 'k', requestId: 'r', customerId: undefined, monotonicMs: () => performance.now() },
  });
}

const contentOf = async (content: readonly ContentPart[], guard = guardOf()): Promise<readonly ContentPart[]> => {
  const request = { model: 'm', stream: false, messages: [{ role: 'user', content }] } as unknown as ChatRequest;
  const { messages } = await guardRequest(guard, request);
  return messages[0]?.content ?? [];
};

test("a secret's name may be in the previous part", async () => {
  const whole = 'see password: geheimnis7 ok';
  for (let at = 1; at < whole.length; at++) {
    const parts = [whole.slice(0, at), whole.slice(at)].map((text): ContentPart => ({ type: 'text', text }));
    const guard = guardOf();
    const said = (await contentOf(parts, guard)).map((part) => (part.type === 'text' ? part.text : '')).join('');
    expect(said).toBe('see password: [PASSWORD] ok');
    expect(guard.list()?.map(({ count }) => count)).toEqual([1]);
    const watching = guardOf('flag');
    await contentOf(parts, watching);
    expect(watching.list()?.map(({ count }) => count)).toEqual([1]);
    const content = parts.map((part) => ({ ...part }));
    const answer = { type: 'message', role: 'assistant', content } as unknown as JsonObject;
    expect(JSON.stringify(await guardNativeAnswer(guardOf(), answer))).not.toContain('geheim');
  }
});

describe('a text in base64', () => {
  const written = base64(`mail ${EMAIL}`);
  const clean = base64('mail [EMAIL]');

  test('is replaced in files of a request', async () => {
    for (const type of ['text/plain', 'image/png', 'image/svg+xml']) {
      const dataUrl = `data:${type};base64,${written}`;
      const [file] = await contentOf([{ type: 'file', dataUrl, filename: `${EMAIL}.txt` }] as ContentPart[]);
      expect(file).toMatchObject({ dataUrl: `data:${type};base64,${clean}` });
      expect(JSON.stringify(file)).not.toContain(EMAIL);
    }
  });

  test('is replaced in vendors’ own requests and answers', async () => {
    const parts = [{ inlineData: { mimeType: 'image/png', data: written } }];
    const file = { type: 'file', file: { filename: 'a.txt', file_data: `data:text/plain;base64,${written}` } };
    const body = { contents: [{ role: 'user', parts }], messages: [{ role: 'user', content: [file] }] };
    const judged = JSON.stringify(await guardNativeRequest(guardOf(), body));
    expect(judged).not.toContain(written);
    expect(judged.split(clean)).toHaveLength(3);
    const answer = JSON.stringify(await guardNativeAnswer(guardOf(), { candidates: [{ content: { parts } }] }));
    expect(answer).toContain(clean);
    expect(answer).not.toContain(written);
  });

  test('is replaced in what tools give back', async () => {
    const content: JsonObject[] = [
      { type: 'resource', resource: { uri: 'f:///y', mimeType: 'text/plain', blob: written } },
      { type: 'image', data: written, mimeType: 'image/png' },
    ];
    const judged = JSON.stringify(await guardToolResult(guardOf(), { content }));
    expect(judged).not.toContain(written);
    expect(judged.split(clean)).toHaveLength(3);
  });

  test('goes out under the name that stands for it', async () => {
    const guard = guardOf('pseudonymise');
    const [file] = await contentOf(
      [{ type: 'file', dataUrl: `data:text/plain;base64,${written}` }] as ContentPart[],
      guard,
    );
    expect(unbase64(String((file as unknown as JsonObject).dataUrl))).toBe('mail <EMAIL_1>');
  });
});

const textsOf = (...texts: string[]) => texts.map((text) => ({ type: 'text', text }) as const);

const CUT: readonly (readonly [string, string, string])[] = [
  ['key ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5', 'P6q7R8 there', GITHUB],
  ['ghp_a1B2', `${GITHUB.slice(8)} there`, GITHUB],
  ['postgres://admin:S3cr3tPa', 'ssw0rd@db.internal:5432/x there', 'S3cr3tPassw0rd'],
  ['mail bob.smit', 'h@corp-example.com there', EMAIL],
  [
    'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9',
    '.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U',
    '',
  ],
];

test.each<ContentPart>([
  { type: 'image', url: 'https://a.example/x.png' },
  { type: 'audio', dataBase64: 'UklGRg==', format: 'wav' },
  { type: 'file', dataUrl: 'https://a.example/x.pdf' },
  { type: 'file', dataUrl: `data:application/pdf;base64,${base64('%PDF-1.7\n\0\u0001')}` },
  // All of it may be ASCII.
  { type: 'file', dataUrl: `data:text/plain;base64,${base64('\n%PDF-1.4 <~87cURD]~>')}` },
  {
    type: 'raw',
    format: 'openai-chat',
    value: { type: 'file', file: { file_data: 'data:application/pdf;base64,JVBERi0=' } },
  },
  {
    type: 'raw',
    format: 'anthropic-messages',
    value: { type: 'document', source: { type: 'base64', data: 'JVBERi0=' } },
  },
  { type: 'raw', format: 'anthropic-messages', value: { type: 'x', content: [{ type: 'image', source: {} }] } },
])('a part that no rule can read is refused by the name of a rule, unless all only watch: %j', async (part) => {
  expect(await contentOf([part], guardOf('flag'))).toEqual([part]);
  await expect(contentOf([...textsOf('look'), part])).rejects.toMatchObject({
    ...{ kind: 'invalid_request', message: expect.stringContaining('(such as "pii")') },
  });
});

test.each([{ modalities: ['text', 'audio'] }, { audio: { voice: 'alloy', format: 'wav' } }])(
  'a spoken answer that a rule could only change in its transcript is refused by the name of the rule: %j',
  async (extra) => {
    const request = { model: 'm', stream: false, messages: [], extra } as unknown as ChatRequest;
    expect(await guardRequest(guardOf('flag'), request)).toBe(request);
    await expect(guardRequest(guardOf(), request)).rejects.toMatchObject({
      ...{ kind: 'invalid_request', param: 'modalities', message: expect.stringContaining('(such as "pii")') },
    });
    const text = { ...request, extra: { modalities: ['text'] } };
    expect(await guardRequest(guardOf(), text)).toBe(text);
  },
);

test('marks for a vendor’s cache are judged as what they stand at', async () => {
  const marks = [{ type: GITHUB }, { type: 'ephemeral', [GITHUB]: EMAIL }];
  for (const cacheControl of marks) {
    const request = {
      ...{ model: 'm', stream: false },
      messages: [
        { role: 'system', content: [{ type: 'text', text: 'hi', cacheControl }] },
        { role: 'user', content: [{ type: 'file', dataUrl: `data:text/plain;base64,${base64('so')}`, cacheControl }] },
        {
          ...{ role: 'assistant', content: [] },
          toolCalls: [{ id: 'c', name: 'f', arguments: '{}', cacheControl }],
          reasoning: [{ text: 'so', format: GITHUB }],
        },
      ],
    } as unknown as ChatRequest;
    const guarded = JSON.stringify(await guardRequest(guardOf(), request));
    expect(guarded).not.toContain(GITHUB);
    expect(guarded).not.toContain(EMAIL);
  }
});

describe('a secret cut over adjacent parts', () => {
  test('leaves nothing of it in any part', async () => {
    for (const [first, second] of CUT) {
      const texts = (await contentOf([
        { type: 'text', text: first },
        { type: 'text', text: second },
      ])) as readonly { readonly text: string }[];
      const left = texts.map(({ text }) => text).join('|');
      expect([first, left]).toEqual([first, expect.stringMatching(/^(?:key |mail )?\[[A-Z_]+\]\|(?: there|\[JWT\])$/)]);
    }
  });

  test.each([EMAIL, 'bob.smith@mail.corp.co.uk', 'bob@corp.example', 'bob@xn--bcher-kva.com', 'bob@пример.рф'])(
    'nor of an address, wherever it is cut: %p',
    async (email) => {
      for (let at = 1; at < email.length; at++) {
        const cut = [`mail ${email.slice(0, at)}`, `${email.slice(at)} there`];
        const texts = await contentOf(cut.map((text) => ({ type: 'text', text }) as const));
        expect([cut, texts]).toMatchObject([cut, [{ text: 'mail [EMAIL]' }, { text: ' there' }]]);
      }
    },
  );

  test('an address that is whole by itself takes nothing of the next part', async () => {
    for (const next of ['Thanks for that', 'and so on', 'Mit freundlichen Grüßen', '谢谢'])
      for (const email of [EMAIL, 'bob@corp.co.uk', 'bob@corp.de']) {
        const texts = await contentOf([
          { type: 'text', text: `mail ${email}` },
          { type: 'text', text: next },
        ]);
        expect(texts).toMatchObject([{ text: 'mail [EMAIL]' }, { text: next }]);
        const sentences = await contentOf(textsOf(`mail ${email}.`, next));
        expect(sentences).toMatchObject([{ text: 'mail [EMAIL].' }, { text: next }]);
      }
  });
});

describe('a number with dots that goes on in the next part', () => {
  const CUT_NUMBERS = [
    ...[
      ['version 1.', '2.3.4.5 ok'],
      ['build 10.15.7.1', '.2 x'],
      ['OID 1.3.6.1', '.4.1.311'],
      ['version ', '1.2.3.4'],
    ],
  ] as const;

  test.each(CUT_NUMBERS)('is no address: %p, %p', async (first, second) => {
    expect(await contentOf(textsOf(first, second))).toMatchObject(textsOf(first, second));
    const parts = [{ text: first }, { text: second }];
    const bodies: JsonObject[] = [
      { contents: [{ role: 'user', parts }] },
      { messages: [{ role: 'user', content: textsOf(first, second) }] },
      { content: { parts } },
    ];
    for (const body of bodies) expect(await guardNativeRequest(guardOf(), body)).toBe(body);
  });

  test('is one where it is whole, cut or not, and where the same text stands alone', async () => {
    expect(await contentOf(textsOf('at 203.0.', '113.77 now'))).toMatchObject(textsOf('at [IP]', ' now'));
    expect(await contentOf(textsOf('at 203.0.113.77', ' now'))).toMatchObject(textsOf('at [IP]', ' now'));
    expect(await contentOf(textsOf('at ', '203.0.113.77 now'))).toMatchObject(textsOf('at ', '[IP] now'));
    const sentence = textsOf('My host is 203.0.113.77.', '3 of its disks are full');
    expect(await contentOf(sentence)).toMatchObject(textsOf('My host is [IP].', '3 of its disks are full'));
    for (const [first, second] of [
      ['my host is', '203.0.113.77'],
      ['steps:\n1.', '203.0.113.77 is up'],
      ['I use release candidate 2.', '203.0.113.77 is my host'],
      ['ip:', '2001:db8::1'],
      ['port 1', '2001:db8::1'],
    ] as const)
      expect(await contentOf(textsOf(first, second))).toMatchObject(
        textsOf(first, second.replace(/^[\d.:a-f]+/, '[IP]')),
      );
    expect(await contentOf(textsOf('at 203.0.113.77.', '2. Go on'))).toMatchObject(textsOf('at [IP].', '2. Go on'));
    const messages = [['version 1.', '2.3.4.5'], ['2.3.4.5']].map((texts) => ({
      ...{ role: 'user', content: textsOf(...texts) },
    }));
    const request = { model: 'm', stream: false, messages } as unknown as ChatRequest;
    const judged = await guardRequest(guardOf(), request);
    expect(judged.messages.map(({ content }) => content)).toMatchObject([
      textsOf('version 1.', '2.3.4.5'),
      textsOf('[IP]'),
    ]);
  });
});

describe('adjacent texts', () => {
  const cut = [{ text: 'mail bob.smit' }, { text: 'h@corp-example.com there' }];
  const gone = [{ text: 'mail [EMAIL]' }, { text: ' there' }];

  test('are read as one wherever they stand', async () => {
    const request = {
      ...{ model: 'm', stream: false, messages: [] },
      wire: { format: 'openai', body: { model: 'm', prediction: { type: 'content', content: cut } } },
    } as unknown as ChatRequest;
    expect((await guardRequest(guardOf(), request)).wire?.body.prediction).toMatchObject({ content: gone });
    const source = { type: 'content', content: cut };
    const body = { messages: [{ role: 'user', content: [{ type: 'document', source }] }] };
    expect(await guardNativeRequest(guardOf(), body)).toMatchObject({
      messages: [{ content: [{ source: { content: gone } }] }],
    });
    expect(await guardNativeRequest(guardOf(), { content: { parts: cut } })).toMatchObject({
      content: { parts: gone },
    });
  });

  test('clean texts stay the same object', async () => {
    const body = { content: { parts: [{ text: 'one' }, { text: 'two' }] } };
    expect(await guardNativeRequest(guardOf(), body)).toBe(body);
  });
});

test('JSON within JSON is read by what it stands for first', async () => {
  const args = { a: '{"b":"p\\u006fst\\u0067res:\\/\\/admin:S3cr3tPas\\u0073w0rd@db.internal.example.com:5432\\/x"}' };
  const body = { contents: [{ role: 'model', parts: [{ functionCall: { name: 'f', args } }] }] };
  const judged = JSON.stringify(await guardNativeRequest(guardOf(), body));
  expect(judged).not.toContain('S3cr3t');
  const [{ parts }] = JSON.parse(judged).contents;
  expect(JSON.parse(parts[0].functionCall.args.a)).toEqual({ b: expect.stringMatching(/^\[[A-Z_]+\]$/) });
});
