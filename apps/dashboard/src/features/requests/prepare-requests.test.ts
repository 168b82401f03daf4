import { describe, expect, test } from 'bun:test';
import { knownOnly, moved, noRoomClass, readChosen, toggled } from './menus/prepare-columns';
import { prepareConversation, truncatedText } from './prepare-conversation';
import { prepareCurl } from './prepare-curl';
import { prepareDifferences } from './prepare-difference';
import {
  changeOf,
  chipsOf,
  describeChip,
  fromSavedFilters,
  readTyped,
  suggestionField,
  toSavedFilters,
} from './prepare-filters';
import { describeNone, fromTally, isRolledUp } from './prepare-histogram';
import { statusNote } from './prepare-request';

describe('filters', () => {
  test('each is a chip in plain words, and what takes its place changes the address', () => {
    const chips = chipsOf({ model: ['a', 'b'], provider_not: 'x', min_cost: '0.1', q: 'no chip' });
    expect(chips.map((chip) => describeChip(chip))).toEqual([
      ...['Model is one of a, b', 'Provider is not x', 'Minimum cost, USD: 0.1'],
    ]);
    expect(changeOf(chips[0] ?? null, { field: 'model', isNot: true, values: ['a'] })).toEqual({
      ...{ model: undefined, model_not: 'a' },
    });
    expect(changeOf(chips[1] ?? null, null)).toEqual({ provider_not: undefined });
    expect(changeOf(null, { field: 'model', isNot: false, values: [] })).toEqual({ model: undefined });
  });

  test('input must fit the field; labels are suggested in two steps', () => {
    expect(readTyped('http_status', '50')).toBeUndefined();
    expect(readTyped('http_status', ' 502 ')).toBe('502');
    expect(readTyped('label', 'team')).toBeUndefined();
    expect(readTyped('min_cost', '1,5')).toBeUndefined();
    expect(suggestionField('label', 'te')).toEqual({ field: 'label', q: 'te' });
    expect(suggestionField('label', 'team=o')).toEqual({ field: 'label.team', q: 'o' });
    expect(suggestionField('outcome', 'e')).toBeNull();
  });

  test('a saved view gives back what was saved', () => {
    const query = {
      status: ['error', 'aborted'],
      model_not: 'm',
      'label.team': ['a', 'b'],
      'label_not.env': 'x',
      q: 'w',
    };
    expect(fromSavedFilters(toSavedFilters(query))).toEqual({
      ...{ outcome: ['error', 'aborted'], model_not: 'm', label: ['team=a', 'team=b'], label_not: 'env=x', q: 'w' },
    });
  });
});

test('columns: only known ones, moved and left out, never none', () => {
  const all = ['a', 'b', 'c'];
  expect(readChosen('["c","x","a","c"]', all)).toEqual(['c', 'a']);
  expect([readChosen('{', all), readChosen('7', all), readChosen(null, all), knownOnly(['x'], all)]).toEqual([
    ...[null, null, null, null],
  ]);
  expect(moved(all, 'b', -1)).toEqual(['b', 'a', 'c']);
  expect(moved(all, 'a', -1)).toEqual(all);
  expect(toggled(['a'], 'a')).toEqual(['a']);
  expect(toggled(['a', 'b'], 'a')).toEqual(['b']);
  expect(toggled(['a'], 'b')).toEqual(['a', 'b']);
});

test('a column without room says so: where it is hidden, and beside an open request', () => {
  expect([noRoomClass(undefined, false), noRoomClass(undefined, true)]).toEqual(['hidden', 'hidden']);
  expect([noRoomClass('very', false), noRoomClass('very', true)]).toEqual(['xl:hidden', '']);
});

describe('histogram', () => {
  test('an empty list blames the filter, if there is one', () => {
    expect([describeNone({ customer_id: 'zzz' }), describeNone({})].map(({ title }) => title)).toEqual([
      ...['No matching requests', 'No requests in this range'],
    ]);
  });

  test('roll-ups answer what they know', () => {
    expect(isRolledUp({ from: 'a', to: 'b', outcome: 'error', api_key_id: 'k' })).toBe(true);
    expect([isRolledUp({ status: ['a', 'b'] }), isRolledUp({ model: 'm' }), isRolledUp({ status_not: 'x' })]).toEqual([
      ...[false, false, false],
    ]);
  });

  test('statuses are layers; what was not counted is a gap, what had none is zero', () => {
    const times = [0, 1000, 2000];
    const at = (ms: number) => new Date(ms).toISOString();
    const tally = fromTally(times, {
      count: { rows: 3, is_exact: false, from: at(1000) },
      interval_seconds: 1,
      buckets: [
        { start: at(1000), status: 'error', outcome: 'error', requests: 2 },
        { start: at(1000), status: 'success', outcome: 'success', requests: 1 },
      ],
    });
    expect(tally.series.map(({ name, values }) => [name, values])).toEqual([
      ['success', [null, 1, 0]],
      ['error', [null, 2, 0]],
    ]);
  });
});

describe('conversations', () => {
  const words = (request: unknown, answer: unknown) =>
    prepareConversation(request, answer)?.turns.map(({ role, parts }) => [
      role,
      ...parts.map((part) => `${part.kind}:${'text' in part ? part.text.replace(/\s+/g, '') : part.note}`),
    ]);

  test('every API has messages, calls and results, thinking, images', () => {
    expect(
      words(
        {
          messages: [
            { role: 'system', content: 'S' },
            {
              role: 'user',
              content: [
                { type: 'text', text: 'U' },
                { type: 'image_url', image_url: { url: 'https://x/y.png' } },
              ],
            },
            {
              role: 'assistant',
              content: null,
              tool_calls: [{ id: '1', function: { name: 'f', arguments: '{"a":1}' } }],
            },
            { role: 'tool', tool_call_id: '1', content: 'R' },
          ],
        },
        { choices: [{ message: { role: 'assistant', content: 'A', reasoning_content: 'T' } }] },
      ),
    ).toEqual([
      ['system', 'text:S'],
      ['user', 'text:U', 'image:https://x/y.png'],
      ['assistant', 'call:{"a":1}'],
      ['tool', 'result:R'],
      ['assistant', 'thinking:T', 'text:A'],
    ]);
    expect(
      words(
        {
          system: [{ type: 'text', text: 'S' }],
          messages: [
            {
              role: 'user',
              content: [{ type: 'tool_result', tool_use_id: '1', content: [{ type: 'text', text: 'R' }] }],
            },
          ],
        },
        {
          content: [
            { type: 'thinking', thinking: 'T' },
            { type: 'tool_use', id: '2', name: 'f', input: { a: 1 } },
          ],
        },
      ),
    ).toEqual([
      ['system', 'text:S'],
      ['user', 'result:R'],
      ['assistant', 'thinking:T', 'call:{"a":1}'],
    ]);
    expect(
      words(
        {
          instructions: 'S',
          input: [
            { role: 'user', content: [{ type: 'input_text', text: 'U' }] },
            { type: 'function_call_output', call_id: '1', output: 'R' },
          ],
        },
        {
          output: [
            { type: 'function_call', call_id: '2', name: 'f', arguments: '{}' },
            { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'A' }] },
          ],
        },
      ),
    ).toEqual([
      ['system', 'text:S'],
      ['user', 'text:U'],
      ['tool', 'result:R'],
      ['assistant', 'call:{}'],
      ['assistant', 'text:A'],
    ]);
    expect(
      words(
        { systemInstruction: { parts: [{ text: 'S' }] }, contents: [{ role: 'user', parts: [{ text: 'U' }] }] },
        { candidates: [{ content: { role: 'model', parts: [{ functionCall: { name: 'f', args: { a: 1 } } }] } }] },
      ),
    ).toEqual([
      ['system', 'text:S'],
      ['user', 'text:U'],
      ['assistant', 'call:{"a":1}'],
    ]);
    expect(words({ prompt: 'P' }, { choices: [{ text: 'A' }] })).toEqual([
      ['user', 'text:P'],
      ['assistant', 'text:A'],
    ]);
    expect(words({ messages: [] }, { error: { message: 'no' } })).toEqual([['error', 'text:no']]);
    expect([prepareConversation(null, null), prepareConversation({ x: 1 }, [])]).toEqual([null, null]);
  });

  test('pictures and transcripts that were made are shown', () => {
    const drawn = prepareConversation({ prompt: 'a cat' }, { data: [{ b64_json: 'AAAA' }], output_format: 'webp' });
    expect(drawn?.turns.map(({ parts }) => parts[0])).toEqual([
      { kind: 'text', text: 'a cat' },
      { kind: 'image', url: 'data:image/webp;base64,AAAA', note: 'Image' },
    ]);
    expect(prepareConversation({ model: 'whisper-1' }, { text: 'Hello' })?.turns).toEqual([
      { role: 'assistant', parts: [{ kind: 'text', text: 'Hello' }] },
    ]);
    const audio = { data: 'AAAA', transcript: 'Hi' };
    const spoken = prepareConversation({}, { choices: [{ message: { content: null, audio } }] });
    expect(spoken?.turns[0]?.parts).toEqual([
      { kind: 'audio', url: 'data:audio/mpeg;base64,AAAA', note: 'not kept whole' },
    ]);
  });

  test('sound that was sent or made is played where it was kept, else its size is told', () => {
    const file = { name: 'a.wav', type: 'audio/wav', bytes: 3, data: 'AAAA' };
    const kept = prepareConversation({ model: 'm', file }, { text: 'Hi' });
    expect(kept?.turns.map(({ parts }) => parts)).toEqual([
      [{ kind: 'audio', url: 'data:audio/wav;base64,AAAA', note: '3 B' }],
      [{ kind: 'text', text: 'Hi' }],
    ]);
    const long = prepareConversation({ input: 'Hi' }, { audio: { type: 'audio/mpeg', bytes: 200 * 1024 } });
    expect(long?.turns.at(-1)?.parts).toEqual([
      { kind: 'audio', url: null, note: '200.0 KiB, more than the log keeps' },
    ]);
    const pcm = prepareConversation({ input: 'Hi' }, { audio: { type: 'audio/pcm', bytes: 3, data: 'AAAA' } });
    expect(pcm?.turns.at(-1)?.parts).toEqual([
      { kind: 'audio', url: null, note: "3 B, which browsers don't play (audio/pcm)" },
    ]);
  });

  test('pictures that were sent are shown, and of long ones the size', () => {
    const pictures = [{ name: 'a.png', type: 'image/png', bytes: 3, data: 'AAAA' }];
    const drawn = prepareConversation({ prompt: 'a hat', pictures }, { data: [{ b64_json: { bytes: 2048 } }] });
    expect(drawn?.turns.map(({ parts }) => parts[0])).toMatchObject([
      { kind: 'text', text: 'a hat' },
      { kind: 'image', url: 'data:image/png;base64,AAAA' },
      { kind: 'image', url: null, note: '2.00 KiB, more than the log keeps' },
    ]);
  });

  test('only pictures inside the request are drawn, and nothing that could run', () => {
    const image = (url: string) => {
      const request = { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] };
      const [part] = prepareConversation(request, null)?.turns[0]?.parts ?? [];
      return part?.kind === 'image' ? part.url : undefined;
    };
    expect(image('data:image/png;base64,AAAA')).toBe('data:image/png;base64,AAAA');
    expect(image('data:image/svg+xml;base64,AAAA')).toBeNull();
    expect(image('https://elsewhere/x.png')).toBeNull();
    expect(truncatedText({ truncated: true, characters: 9, text: 'abc' })).toEqual({ text: 'abc', characters: 9 });
  });
});

test('differences: what was added, left out and changed, by path; the order of fields is none', () => {
  expect(prepareDifferences({ a: 1, b: 2 }, { b: 2, a: 1 })).toEqual([]);
  expect(
    prepareDifferences(
      { model: 'x', messages: [{ content: 'a' }], n: 1 },
      { model: 'y', messages: [{ content: 'a' }, {}] },
    ),
  ).toEqual([
    { path: 'model', kind: 'changed', before: '"x"', after: '"y"' },
    { path: 'messages[1]', kind: 'added', before: null, after: '{}' },
    { path: 'n', kind: 'removed', before: '1', after: null },
  ]);
});

test('a command has a place for the key, never a key, and quotes what a shell would read', () => {
  const log = { dialect: 'openai-chat', customer_id: "o'neil", labels: { team: 'a' } };
  expect(prepareCurl(log, { text: "it's $HOME" }, 'http://g')).toBe(
    `curl http://g/v1/chat/completions \\
  -H "Authorization: Bearer $LLM0_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -H 'X-Customer-ID: o'\\''neil' \\
  -H 'X-LLM0-team: a' \\
  -d '{"text":"it'\\''s $HOME"}'`,
  );
  expect(prepareCurl(log, { truncated: true, text: 'x' }, '')).toBeNull();
  expect(prepareCurl({ ...log, dialect: 'passthrough' }, {}, '')).toBeNull();
});

test('the status of a request says how often it stands, or that another target answered', () => {
  const note = (refused_count: number | null, failover_count: number) => statusNote({ refused_count, failover_count });
  expect([note(null, 0), note(1, 0), note(1200, 0), note(null, 2)]).toEqual([null, null, '× 1,200', 'failover']);
});
