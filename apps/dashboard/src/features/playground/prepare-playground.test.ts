import { describe, expect, test } from 'bun:test';
import { checkAnswer } from './answers/check-answer';
import {
  askedTurns,
  changeTurn,
  continueWith,
  insertAfter,
  newTurn,
  placeOfAnswers,
  removeTurn,
  type Turns,
  turnsUpTo,
} from './conversation';
import { type Draft, newDraft, restoreDraft, type Settings, storeDraft, withExample } from './draft';
import { mediaBody, mediaOf, picturesOf, speechOf } from './media';
import { PlaygroundStore } from './playground-store';
import { openCalls, prepareBody, schemaOf } from './prepare-body';
import { prepareCode } from './prepare-code';
import { bytesOf, prepareRerun } from './prepare-rerun';
import { prepareSupport } from './prepare-support';
import type { ChatOutcome, sendChat } from './send-chat';

const draftOf = (settings: Partial<Settings>, turns: Turns = [newTurn('user', { text: 'Hi' })]): Draft => {
  const draft = newDraft();
  return { ...draft, turns, settings: { ...draft.settings, stream: false, ...settings } };
};
const call = { id: 'c1', name: 'get_weather', arguments: '{"city":"Berlin"}' };
const picture = { url: 'data:image/png;base64,iVBORw0KGgo=', name: 'a.png', bytes: 8 };

test('the example fills an empty first field only', () => {
  expect([withExample([''], 'm'), withExample(['', ''], 'm'), withExample(['x', ''], 'm')]).toEqual([
    ...[['m'], ['m', ''], ['x', '']],
  ]);
});

describe('turns', () => {
  const turns = [newTurn('user', { text: 'a' }), newTurn('assistant', { text: 'b' }), newTurn('user', { text: 'c' })];
  const textsOf = (given: Turns) => given.map(({ role, text }) => `${role[0]}:${text}`);
  const [, second, third] = turns.map(({ id }) => id) as [string, string, string];

  test('are changed, put between, taken out; the last one out leaves an empty one', () => {
    expect(textsOf(changeTurn(turns, second, { text: 'B' }))).toEqual(['u:a', 'a:B', 'u:c']);
    expect(textsOf(insertAfter(turns, second))).toEqual(['u:a', 'a:b', 'u:', 'u:c']);
    expect(textsOf(removeTurn(turns, second))).toEqual(['u:a', 'u:c']);
    // An answer stays behind what it answers, whatever follows.
    const asked = turns.slice(0, 2);
    expect(placeOfAnswers(turns, asked)).toBe(2);
    expect(placeOfAnswers(removeTurn(turns, second), asked)).toBe(1);
    expect([placeOfAnswers(asked, asked), placeOfAnswers(turns, [])]).toEqual([2, 3]);
    expect(textsOf(removeTurn([turns[0] as (typeof turns)[0]], turns[0]?.id ?? ''))).toEqual(['u:']);
  });

  test('an answer is said anew from what was before it, a question from itself', () => {
    expect(textsOf(turnsUpTo(turns, second))).toEqual(['u:a']);
    expect(textsOf(askedTurns([...turns.slice(0, 2), newTurn('user')]))).toEqual(['u:a']);
    expect(askedTurns(turns)).toBe(turns);
    expect(textsOf(turnsUpTo(turns, third))).toEqual(['u:a', 'a:b', 'u:c']);
  });

  test('a call of a tool waits for its result, and takes it along when it is deleted', () => {
    const called = continueWith(turns, { text: '', toolCalls: [call] });
    expect(called.at(-1)).toMatchObject({ role: 'tool', answers: call });
    expect(openCalls(called)).toEqual([]);
    expect(openCalls(called.slice(0, -1))).toEqual(['get_weather']);
    expect(textsOf(removeTurn(called, called.at(-2)?.id ?? ''))).toEqual(['u:a', 'a:b', 'u:c']);
    expect(prepareBody(draftOf({}, called)).body.messages).toMatchObject([
      ...[{}, {}, {}],
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'get_weather' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: '' },
    ]);
  });
});

describe('sent request', () => {
  test('only what was set, as the API names it', () => {
    expect(prepareBody({ ...draftOf({}), system: ' ' }).body).toEqual({ messages: [{ role: 'user', content: 'Hi' }] });
    const settings = { temperature: '0.2', max_tokens: '50', stop: 'a\nb', seed: '7', reasoning_effort: 'low' };
    const more = { other: '{"top_k":4}', cache: 'off', customer: ' c ', stream: true } as const;
    const { body, headers, problems } = prepareBody({ ...draftOf({ ...settings, ...more }), system: 'Be brief' });
    expect(problems).toEqual([]);
    expect(body).toEqual({
      messages: [
        { role: 'system', content: 'Be brief' },
        { role: 'user', content: 'Hi' },
      ],
      ...{ temperature: 0.2, max_tokens: 50, stop: ['a', 'b'], seed: 7, reasoning_effort: 'low', top_k: 4 },
      ...{ stream: true, stream_options: { include_usage: true } },
    });
    expect(headers).toEqual({ 'X-LLM0-Cache': 'off', 'X-Customer-Id': 'c' });
  });

  test('images beside their text', () => {
    const turns = [newTurn('user', { text: 'What is it?', pictures: [picture] })];
    expect(prepareBody(draftOf({}, turns)).body.messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is it?' },
          { type: 'image_url', image_url: { url: picture.url } },
        ],
      },
    ]);
    expect(bytesOf(picture.url)).toBe(9);
  });

  test.each<[string, Partial<Settings>, string]>([
    ['temperature', { temperature: '3' }, 'Must be from 0 to 2.'],
    ['temperature', { temperature: '0,5' }, 'Enter a number'],
    ['max_tokens', { max_tokens: '1.5' }, 'whole number'],
    ['tools', { tools: '[{]' }, 'not JSON'],
    ['tools', { tools: '[{"description":"x"}]' }, 'needs a "name"'],
    ['tools', { tools: '[{"name":"f","parameters":[]}]' }, 'not a JSON schema'],
    ['schema', { format: 'json_schema', schema: '[]' }, 'must be an object'],
    ['other', { other: '3' }, 'JSON object'],
  ])('%s is checked before: %p', (field, settings, message) => {
    const { problems } = prepareBody(draftOf(settings));
    expect(problems).toEqual([{ field: field as 'other', message: expect.stringContaining(message) }]);
  });

  test('an empty field for another model does not ask the first one again', () => {
    const problemsOf = (...models: string[]) => prepareBody({ ...draftOf({}), models }).problems;
    expect(problemsOf('', 'demo-chat', ' ')).toEqual([{ field: 'models', message: 'Choose model 3, or remove it.' }]);
    expect([...problemsOf(''), ...problemsOf('', 'demo-chat'), ...problemsOf('a', 'a')]).toEqual([]);
  });

  test('tools and schemas may be written bare, or as the API has them', () => {
    const bare = { name: 'f', parameters: { type: 'object' } };
    const whole = { type: 'function', function: bare };
    for (const tools of [[bare], [whole], bare]) {
      expect(prepareBody(draftOf({ tools: JSON.stringify(tools), tool_choice: 'f' })).body).toMatchObject({
        ...{ tools: [whole], tool_choice: { type: 'function', function: { name: 'f' } } },
      });
    }
    const schema = { type: 'object' };
    for (const typed of [schema, { name: 'answer', schema, strict: true }]) {
      const settings = { format: 'json_schema', schema: JSON.stringify(typed) } as const;
      expect(prepareBody(draftOf(settings)).body.response_format).toEqual({
        ...{ type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } },
      });
      expect(schemaOf(settings)).toEqual(schema);
    }
  });

  test('the form warns of features that the chosen model lacks', () => {
    const known = [{ id: 'small', owned_by: 'x', capabilities: ['vision'], max_output_tokens: 100 }];
    const draft = { ...draftOf({ tools: '[]', max_tokens: '200' }), models: ['small', 'other'] };
    expect(prepareSupport(draft, known, 'demo')).toEqual([
      'small is not known to support tools.',
      'small allows at most 100 tokens.',
      'other is not available to this key.',
    ]);
    expect(prepareSupport(draft, [], 'demo')).toEqual([]);
  });

  test('code is the same request, with the key from the environment', () => {
    const body = { messages: [{ role: 'user', content: `it's "so"` }], top_k: 4, stream: true, stop: null };
    const code = prepareCode({ url: 'http://h', model: 'm', body, headers: { 'X-Customer-Id': 'c' } });
    expect(code.curl).toContain(`it'\\''s`);
    expect(code.curl).toContain(`-H 'X-Customer-Id: c'`);
    expect(code.python).toContain('stream=True,');
    expect(code.python).toContain('stop=None,');
    expect(code.python).toContain('extra_body={\n        "top_k": 4,\n    },');
    expect(code.python).toContain('extra_headers={');
    expect(code.typescript).toContain('process.env.LLM0_API_KEY');
    for (const text of Object.values(code)) expect(text).not.toContain('llm0_live_');
  });
});

describe('pictures and sound', () => {
  const known = [
    { id: 'paints', owned_by: 'x', output_modalities: ['image'] },
    { id: 'speaks', owned_by: 'x', output_modalities: ['audio'] },
    { id: 'talks', owned_by: 'x', output_modalities: ['text', 'audio'] },
  ];
  const turns = [newTurn('user', { text: 'a cat' }), newTurn('assistant', { text: 'b' }), newTurn('user')];

  test('a model that makes no text is asked for what it makes', () => {
    expect(['paints', 'speaks', 'talks', 'unknown'].map((name) => mediaOf(known, name))).toEqual([
      ...(['image', 'speech', undefined, undefined] as const),
    ]);
    expect(mediaBody('image', turns, { size: '1x1' })).toEqual({ prompt: 'a cat', size: '1x1' });
    expect(mediaBody('speech', turns, { voice: 'echo' })).toEqual({ input: 'a cat', voice: 'echo' });
  });

  test('they are shown from the answer itself', async () => {
    expect(picturesOf({ data: [{ b64_json: 'AAAA' }, { url: 'https://x' }], output_format: 'webp' })).toEqual([
      { kind: 'image', url: 'data:image/webp;base64,AAAA' },
    ]);
    const sound = new Response(new Uint8Array(100_000).fill(7), { headers: { 'content-type': 'audio/wav' } });
    const { url } = await speechOf(sound);
    expect(url).toBe(`data:audio/wav;base64,${Buffer.alloc(100_000, 7).toString('base64')}`);
  });

  test('their code asks the same path', () => {
    const ask = { url: 'http://gw', model: 'speaks', body: mediaBody('speech', turns, {}), headers: {} };
    const code = prepareCode({ ...ask, media: 'speech' });
    expect(code.curl).toStartWith("curl 'http://gw/v1/audio/speech'");
    expect(code.curl).toEndWith('--output speech.mp3');
    expect(code.python).toContain('client.audio.speech.create(');
    expect(code.typescript).toContain('client.audio.speech.create(');
  });
});

describe('answers', () => {
  const schema = { type: 'object', properties: { age: { type: 'integer' } }, required: ['age', 'name'] };
  test.each([
    ['{"age":3,"name":"A"}', true, ''],
    ['{"age":"old","name":"A"}', false, '/age'],
    ['{"age":3}', false, 'name'],
    ['Sure! {"age":3}', false, 'not JSON'],
  ])('%p against a schema: %p', (text, isValid, fault) => {
    const check = checkAnswer(text, schema);
    expect(check.isValid).toBe(isValid);
    expect(check.faults.join()).toContain(fault);
  });
});

class Tab implements Storage {
  [name: string]: unknown;
  private readonly kept = new Map<string, string>();
  constructor(private readonly most = 1e6) {}
  get length() {
    return this.kept.size;
  }
  clear = () => this.kept.clear();
  key = () => null;
  getItem = (name: string) => this.kept.get(name) ?? null;
  removeItem = (name: string) => void this.kept.delete(name);
  setItem = (name: string, value: string) => {
    if (value.length > this.most) throw new Error('full');
    this.kept.set(name, value);
  };
}

describe('state of a tab', () => {
  test('the draft, of whoever wrote it, and never a pasted key', () => {
    const tab = new Tab();
    const store = new PlaygroundStore('ann', tab);
    store.change({ system: 'Be brief' });
    store.paste('llm0_live_secret');
    store.store();
    expect(restoreDraft(tab, 'ann')?.system).toBe('Be brief');
    expect(tab.getItem('llm0-playground')).not.toContain('llm0_live_secret');
    expect(restoreDraft(tab, 'bob')).toBeNull();
    expect(restoreDraft(tab, 'ann')).toBeNull();
  });

  test('without pictures if they are too large', () => {
    const big = { ...picture, url: `data:image/png;base64,${'A'.repeat(5000)}` };
    const draft = draftOf({}, [newTurn('user', { text: 'see', pictures: [big] })]);
    const tab = new Tab(4000);
    expect(storeDraft(tab, 'ann', draft)).toBe('without pictures');
    expect(restoreDraft(tab, 'ann')?.turns[0]).toMatchObject({ text: 'see', pictures: [] });
    expect(storeDraft(new Tab(10), 'ann', draft)).toBe('nothing');
    tab.setItem('llm0-playground', '{"owner":"ann"');
    expect(restoreDraft(tab, 'ann')).toBeNull();
  });
});

describe('several at once', () => {
  const said = (text: string): ChatOutcome => ({
    ...{
      text,
      reasoning: '',
      toolCalls: [],
      media: [],
      finishReason: 'stop',
      fault: null,
      costUsd: 0,
      tokensIn: 1,
      tokensOut: 1,
    },
    ...{ ttftMs: 1, status: 200, requestId: 'r', headers: [], totalMs: 2 },
  });
  const fault = { message: 'no', code: 'upstream_error', param: null, retryAfterSeconds: null, attempts: [] };
  const send: typeof sendChat = async ({ body, signal, onPart }) => {
    if (body.model === 'bad') return { ...said(''), fault, status: 502 };
    if (body.model !== 'slow') return said(`by ${body.model}`);
    onPart?.({ text: 'half', reasoning: '', toolCalls: [], media: [] });
    await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('left'))));
    return said('never');
  };
  const asking = (...models: string[]) => ({
    ...{ sender: { apiKey: 'k' }, models, body: {}, mediaOf: () => undefined, headers: {}, schema: null },
  });

  test('one that fails or is stopped leaves the others alone; what is taken goes on', async () => {
    const store = new PlaygroundStore('ann', new Tab(), send);
    const before = store.get().draft.turns;
    const done = store.ask(asking('a', 'bad', 'slow'));
    await Bun.sleep(0);
    const [a, bad, slow] = store.get().runs;
    expect([a?.outcome?.text, bad?.outcome?.fault?.code, slow?.soFar.text]).toEqual(['by a', 'upstream_error', 'half']);
    store.stop(slow?.id ?? 0);
    await done;
    expect(store.get().runs[2]).toMatchObject({ isStopped: true, outcome: null, soFar: { text: 'half' } });
    expect(store.get().draft.turns).toBe(before);
    store.goOnWith(bad?.id ?? 0);
    expect(store.get().draft.turns).toBe(before);
    store.goOnWith(a?.id ?? 0);
    expect(store.get().draft.turns.map(({ text }) => text)).toEqual([before[0]?.text ?? '', 'by a', '']);
  });

  test('one alone goes on by itself, unless the turns were changed meanwhile', async () => {
    const store = new PlaygroundStore('ann', new Tab(), send);
    await store.ask(asking('a'));
    expect(store.get().draft.turns).toHaveLength(3);
    const done = store.ask(asking('b'));
    const edited = [newTurn('user', { text: 'other' })];
    store.change({ turns: edited });
    await done;
    expect(store.get().draft.turns).toBe(edited);
  });
});

describe('a logged request again', () => {
  const log = {
    ...{ project_id: 'p', api_key_id: 'k', requested_model: 'smart', dialect: 'openai-chat', stream: true },
    ...{ customer_id: 'c', labels: null },
  };
  const body = {
    ...{ model: 'smart', temperature: 0.2, max_completion_tokens: 9, stop: ['x', 'y'], top_k: 4, stream: true },
    response_format: { type: 'json_schema', json_schema: { name: 'n', schema: {} } },
    tools: [{ type: 'function', function: { name: 'f' } }],
    tool_choice: { type: 'function', function: { name: 'f' } },
    messages: [
      { role: 'system', content: 'Be brief' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'see' },
          { type: 'image_url', image_url: { url: picture.url } },
        ],
      },
      { role: 'assistant', content: null, tool_calls: [{ id: 'c1', function: { name: 'f', arguments: '{}' } }] },
      { role: 'tool', tool_call_id: 'c1', content: '42' },
    ],
  };

  test('is what was sent', () => {
    const { draft, missing } = prepareRerun(log, body, '');
    expect(missing).toEqual([]);
    expect(draft).toMatchObject({
      ...{ projectId: 'p', keyId: 'k', models: ['smart'], system: 'Be brief' },
      turns: [
        { role: 'user', text: 'see', pictures: [{ url: picture.url, bytes: 9 }] },
        { role: 'assistant', toolCalls: [{ id: 'c1', name: 'f' }] },
        { role: 'tool', text: '42', answers: { id: 'c1' } },
      ],
      settings: { temperature: '0.2', max_tokens: '9', stop: 'x\ny', tool_choice: 'f', customer: 'c', stream: true },
    });
    const { body: again, problems } = prepareBody(draft);
    expect(problems).toEqual([]);
    expect(again).toMatchObject({
      temperature: 0.2,
      top_k: 4,
      tools: body.tools,
      response_format: body.response_format,
    });
  });

  test('names missing fields; model and key are set', () => {
    const without = prepareRerun({ ...log, labels: { team: 'a' } }, null, 'It was not stored.');
    expect(without.missing).toEqual(['The prompt is missing. It was not stored.', 'Labels are not sent again: team.']);
    expect(without.draft).toMatchObject({ models: ['smart'], keyId: 'k' });
    expect(prepareRerun(log, { truncated: true, characters: 9, text: '' }, '').missing[0]).toContain('too long');
    const foreign = {
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
      tools: [{ name: 'f' }],
      thinking: {},
    };
    const other = prepareRerun({ ...log, dialect: 'anthropic-messages' }, foreign, '');
    expect(other.missing[0]).toContain('another format (anthropic-messages)');
    expect(other.draft).toMatchObject({ turns: [{ text: 'Hi' }], settings: { tools: '', other: '' } });
  });
});
