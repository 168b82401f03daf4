import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { readAudio } from '@llm0/core/tasks/audio-duration';
import OpenAI, { toFile } from 'openai';
import type { FakeBehaviour } from '../fake-upstream/behaviour';
import { fakeSpeech, HEARD } from '../fake-upstream/render-tasks';
import { callAdmin, createTestKey } from '../stores/start-gateway';
import {
  allLogs,
  type LogRow,
  logRow,
  ON_ONE_KIND,
  settledLedger,
  shareEnvironment,
  type TestEnvironment,
  waitUntil,
} from './environment';

const SETUP_MS = 60_000;

/** Silence of 8,000 bytes a second. */
function wav(bytes: number): Buffer {
  const file = Buffer.alloc(44 + bytes);
  file.write('RIFF', 0);
  file.write('WAVEfmt ', 8);
  file.writeUInt32LE(16, 16);
  for (const [value, at] of [
    [1, 20],
    [1, 22],
    [1, 32],
    [8, 34],
  ] as const) {
    file.writeUInt16LE(value, at);
  }
  file.writeUInt32LE(8000, 24);
  file.writeUInt32LE(8000, 28);
  file.write('data', 36);
  file.writeUInt32LE(bytes, 40);
  return file;
}
const SHORT = wav(24_000);
/** Larger than what is kept in memory. */
const LONG = wav(2 * 1024 * 1024);
const MIB = 1024 * 1024;
/** A form that ends in the middle of its file. */
const HALF = Buffer.concat([
  Buffer.from(
    '--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nwhisper-9\r\n--b\r\n' +
      'Content-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n',
  ),
  LONG.subarray(0, MIB),
]);
const HALF_HEADERS = { 'content-type': 'multipart/form-data; boundary=b' };

const BY_MINUTE = { mode: 'transcription', minute_usd: 0.006 };
const BY_TOKEN = {
  ...{ mode: 'transcription', input_usd_per_million: 2.5, output_usd_per_million: 10 },
  input_audio_usd_per_million: 6,
};
const PRICES: readonly [provider: string, model: string, prices: Record<string, unknown>][] = [
  ['openai', 'whisper-9', BY_MINUTE],
  ['openai', 'gpt-transcribe-9', BY_TOKEN],
  ['azure', 'my-whisper', BY_MINUTE],
  ['groq', 'whisper-large-9', { mode: 'transcription', minute_usd: 0.000666666667 }],
  ['gemini', 'gemini-9-flash', { ...BY_TOKEN, mode: 'chat' }],
  ['gemini', 'gemini-9-tts', { mode: 'speech', input_usd_per_million: 1, output_audio_usd_per_million: 20 }],
  ['openai', 'tts-9', { mode: 'speech', character_usd_per_million: 15 }],
  ['openai', 'gpt-tts-9', { mode: 'speech', input_usd_per_million: 0.6, output_audio_usd_per_million: 12 }],
];

describe.each(ON_ONE_KIND)('audio on %s stores', (kind) => {
  let world: TestEnvironment;
  let apiKey: string;
  let projectId: string;
  beforeAll(async () => {
    world = await shareEnvironment({
      kind,
      env: ({ url }) => ({
        ...{ AZURE_OPENAI_API_KEY: 'azure-fake-key', AZURE_OPENAI_ENDPOINT: url },
        ...{ GROQ_API_KEY: 'groq-fake-key', GROQ_BASE_URL: `${url}/groq/v1` },
      }),
    });
    for (const [provider, model, body] of PRICES) {
      await callAdmin(world.gateway, `/models?provider=${provider}&model=${model}`, { method: 'PUT', body });
    }
  }, SETUP_MS);
  beforeEach(async () => {
    world.upstream.control.reset();
    ({ apiKey, projectId } = await createTestKey(world.gateway));
  });
  afterAll(() => world.close(), SETUP_MS);

  const send = async (path: string, init: RequestInit) => {
    const response = await fetch(`${world.gateway.url}${path}`, {
      ...init,
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, ...(init.headers as Record<string, string>) },
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    const text = bytes.toString();
    const json = (text.startsWith('{') ? JSON.parse(text) : {}) as Record<string, unknown> & {
      error?: { code: string; message: string; param: string | null };
    };
    return {
      response,
      bytes,
      text,
      json,
      row: () => logRow(world.gateway, response.headers.get('x-request-id') ?? ''),
    };
  };
  type Fields = readonly (readonly [name: string, value: string | Buffer])[];
  const form = (fields: Fields) => {
    const body = new FormData();
    for (const [name, value] of fields) {
      if (typeof value === 'string') body.append(name, value);
      else body.append(name, new Blob([value as never], { type: 'audio/wav' }), 'a.wav');
    }
    return body;
  };
  const transcribe = (fields: Fields, path = 'transcriptions', headers: Record<string, string> = {}) =>
    send(`/v1/audio/${path}`, { body: form(fields), headers });
  const say = (body: Record<string, unknown>, headers: Record<string, string> = {}) =>
    send('/v1/audio/speech', {
      body: JSON.stringify({ voice: 'alloy', ...body }),
      headers: { 'content-type': 'application/json', ...headers },
    });
  const update = (fields: Record<string, unknown>) =>
    callAdmin(world.gateway, `/projects/${projectId}`, { method: 'PATCH', body: fields });
  const sdk = () => new OpenAI({ apiKey, baseURL: `${world.gateway.url}/v1`, maxRetries: 0 });
  const spent = async () => {
    const { projects } = await settledLedger(world.gateway);
    return projects.find((one) => one.project_id === projectId)?.counter_usd ?? 0;
  };
  const received = () => world.upstream.control.counters.received;
  const sent = () => world.upstream.requests.at(-1)?.body;

  /** Model, what the vendor reports, and the whole bill in nano-USD. */
  const BILLS: readonly [model: string, told: FakeBehaviour, nanoUsd: number, row: Record<string, unknown>][] = [
    // Audio 90 × 6000 + text 10 × 2500 + output 20 × 10,000.
    ['gpt-transcribe-9', {}, 765_000, { tokens_in: 100, tokens_out: 20, units: null }],
    // Told in seconds, and priced by token: twenty times the estimate of three seconds, 96 × 6000 + 30 × 10,000.
    ['gpt-transcribe-9', { seconds: 60 }, 17_520_000, { units: { seconds: 60 }, cost_estimated: true }],
    ['whisper-9', { seconds: 3600 }, 360_000_000, { units: { seconds: 3600 } }],
    ['whisper-9', { seconds: 7 }, 700_000, { units: { seconds: 7 } }],
    // Untold: three seconds by the header.
    ['whisper-9', { usage: null }, 300_000, { units: { seconds: 3 }, cost_estimated: true }],
    ['azure/my-whisper', { usage: null, seconds: 12 }, 1_200_000, { units: { seconds: 12 }, provider: 'azure' }],
    // At least ten seconds.
    ['whisper-large-9', {}, 111_111, { units: { seconds: 10 }, provider: 'groq' }],
  ];

  test('a vendor bills its least seconds of a streamed transcript too, and they are held', async () => {
    const tiny = wav(1600);
    const fields: Fields = [
      ['model', 'whisper-large-9'],
      ['stream', 'true'],
      ['file', tiny],
    ];
    const { text, row } = await transcribe(fields);
    expect(sent()).toMatchObject({ response_format: 'verbose_json' });
    expect(text).toContain(`"type":"transcript.text.done","text":"${HEARD}"`);
    expect(await row()).toMatchObject({ cost_usd: 0.000_111_111, cost_estimated: false, units: { seconds: 10 } });
    // An answer that tells no duration.
    world.upstream.control.setDefault({ body: JSON.stringify({ text: HEARD }), contentType: 'application/json' });
    const untold = await transcribe(fields);
    expect(await untold.row()).toMatchObject({ cost_usd: 0.000_111_111, cost_estimated: true, units: { seconds: 10 } });
    await update({ monthly_cap_usd: 0.000_3 });
    expect((await transcribe(fields)).response.status).toBe(402);
  });

  test.each(BILLS)('a transcript by %s with %j costs %d nano-USD', async (model, told, nanoUsd, expected) => {
    world.upstream.control.setDefault(told);
    const { response, json, row } = await transcribe([
      ['model', model],
      ['file', SHORT],
    ]);
    expect([response.status, json.text, json.cost_usd]).toEqual([200, HEARD, nanoUsd / 1e9]);
    expect(await row()).toMatchObject({
      ...{ status: 'success', dialect: 'openai-transcriptions', modality: 'audio', cost_usd: nanoUsd / 1e9 },
      ...expected,
    });
  });

  test.each([
    ['short, its model in front', SHORT, true],
    ['short, its model behind', SHORT, false],
    ['large, its model in front', LONG, true],
    ['large, its model behind', LONG, false],
  ] as const)('a file that is %s arrives as it is', async (_name, file, isFirst) => {
    const model = ['model', 'gpt-transcribe-9'] as const;
    const parts = isFirst ? [model, ['file', file] as const] : [['file', file] as const, model];
    const { response, json } = await transcribe([...parts, ['language', 'en'], ['timestamp_granularities[]', 'word']]);
    expect([response.status, json.text]).toEqual([200, HEARD]);
    expect(sent()).toEqual({
      ...{ model: 'gpt-transcribe-9', language: 'en', 'timestamp_granularities[]': 'word', response_format: 'json' },
      file: expect.stringMatching(new RegExp(`^audio/.* ${file.length}$`)),
    });
  });

  test.each([
    ['short', SHORT],
    ['large', LONG],
  ] as const)('Gemini hears a %s file in its own words', async (_name, file) => {
    world.upstream.control.setDefault({ text: HEARD, usage: { prompt: 100, completion: 20 } });
    const { response, json, row } = await transcribe([
      ['model', 'gemini-9-flash'],
      ['language', 'en'],
      ['file', file],
    ]);
    expect([response.status, json.text]).toEqual([200, HEARD]);
    expect(sent()?.contents).toEqual([
      {
        role: 'user',
        parts: [
          { text: 'Transcribe this recording. Answer with the words alone. Its language is en.' },
          { inlineData: { mimeType: 'audio/wav', data: file.toString('base64') } },
        ],
      },
    ]);
    expect(await row()).toMatchObject({ provider: 'gemini', tokens_in: 100, tokens_out: 20, modality: 'audio' });
    const subtitles = await transcribe([
      ['model', 'gemini-9-flash'],
      ['response_format', 'srt'],
      ['file', file],
    ]);
    expect([subtitles.response.status, subtitles.json.error?.param]).toEqual([400, 'response_format']);
  });

  test('the official SDK transcribes, translates and streams', async () => {
    const file = await toFile(SHORT, 'a.wav', { type: 'audio/wav' });
    const plain = await sdk().audio.transcriptions.create({ model: 'gpt-transcribe-9', file });
    expect(plain).toMatchObject({ text: HEARD, usage: { type: 'tokens', input_tokens: 100, output_tokens: 20 } });
    const { data, response } = await sdk()
      .audio.transcriptions.create({ model: 'gpt-transcribe-9', file, stream: true })
      .withResponse();
    const events = [];
    for await (const event of data) events.push(event);
    expect(events.map((event) => ('delta' in event ? event.delta : '')).join('')).toBe(HEARD);
    expect(events.at(-1)).toMatchObject({ type: 'transcript.text.done', text: HEARD });
    const row = await logRow(world.gateway, response.headers.get('x-request-id') ?? '');
    expect(row).toMatchObject({ stream: true, cost_usd: 0.000765, status: 'success' });
    world.upstream.control.setDefault({ seconds: 60 });
    const english = await sdk().audio.translations.create({ model: 'whisper-9', file });
    expect(english.text).toBe(HEARD);
  });

  test('texts and subtitles are made from answers that tell their usage', async () => {
    world.upstream.control.setDefault({ seconds: 60 });
    const as = (format: string) =>
      transcribe([
        ['model', 'whisper-9'],
        ['response_format', format],
        ['file', SHORT],
      ]);
    const text = await as('text');
    expect([text.text, text.response.headers.get('content-type')]).toEqual([`${HEARD}\n`, 'text/plain; charset=utf-8']);
    expect((await as('srt')).text).toBe(
      '1\n00:00:00,000 --> 00:00:01,500\nHello from\n\n2\n00:00:01,500 --> 00:00:03,000\nthe recording.\n\n',
    );
    expect((await as('vtt')).text).toStartWith('WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nHello from\n\n');
    const detailed = await as('verbose_json');
    expect(detailed.json).toMatchObject({
      language: 'english',
      duration: 60,
      usage: { type: 'duration', seconds: 60 },
    });
    expect(await detailed.row()).toMatchObject({ cost_usd: 0.006 });
  });

  test('the same file is heard once', async () => {
    const ask = () =>
      transcribe([
        ['model', 'gpt-transcribe-9'],
        ['file', wav(16_000)],
      ]);
    await ask();
    const again = await ask();
    expect([again.response.headers.get('x-cache-hit'), again.json.text, again.json.cost_usd]).toEqual([
      'exact',
      HEARD,
      0,
    ]);
    expect(received()).toBe(1);
  });

  test('a failed provider is asked again with a short file, and not with one that is gone', async () => {
    const targets = [
      { provider: 'openai', model: 'whisper-9' },
      { provider: 'azure', model: 'my-whisper' },
    ];
    const name = `heard-${crypto.randomUUID().slice(0, 8)}`;
    await callAdmin(world.gateway, '/aliases', { method: 'POST', body: { alias: name, targets } });
    const ask = (file: Buffer) =>
      transcribe([
        ['model', name],
        ['file', file],
      ]);
    world.upstream.control.setModel('whisper-9', { status: 401 });
    const short = await ask(SHORT);
    expect([short.response.status, short.response.headers.get('x-provider')]).toEqual([200, 'azure']);
    expect(short.response.headers.get('x-llm0-route')).toBe('openai/whisper-9=auth; azure/my-whisper=failover');
    const long = await ask(LONG);
    expect([long.response.status, long.json.error?.code]).toEqual([502, 'upstream_error']);
    const behind = await transcribe([
      ['file', LONG],
      ['model', name],
    ]);
    expect([behind.response.status, behind.response.headers.get('x-provider')]).toEqual([200, 'azure']);
  });

  const REFUSED: readonly [name: string, fields: Fields, status: number, param: string | null][] = [
    ['no file', [['model', 'whisper-9']], 400, 'file'],
    [
      'an empty file',
      [
        ['model', 'whisper-9'],
        ['file', Buffer.alloc(0)],
      ],
      400,
      'file',
    ],
    [
      'one byte',
      [
        ['model', 'whisper-9'],
        ['file', Buffer.from('x')],
      ],
      400,
      'file',
    ],
    [
      'a text',
      [
        ['model', 'whisper-9'],
        ['file', Buffer.from('hello, this is no audio')],
      ],
      400,
      'file',
    ],
    ['no model', [['file', SHORT]], 400, 'model'],
    [
      'a model for text',
      [
        ['model', 'openai/gpt-4o-mini'],
        ['file', SHORT],
      ],
      400,
      'model',
    ],
    [
      'an unknown format',
      [
        ['model', 'whisper-9'],
        ['response_format', 'docx'],
        ['file', SHORT],
      ],
      400,
      'response_format',
    ],
    [
      'two files',
      [
        ['model', 'whisper-9'],
        ['file', SHORT],
        ['file', SHORT],
      ],
      400,
      'file',
    ],
    [
      'a large file and another one',
      [
        ['model', 'whisper-9'],
        ['file', LONG],
        ['file', SHORT],
      ],
      400,
      'file',
    ],
    [
      'a large file with its format behind',
      [
        ['model', 'whisper-9'],
        ['file', LONG],
        ['response_format', 'srt'],
      ],
      400,
      'response_format',
    ],
    [
      '25 MiB and a byte',
      [
        ['model', 'whisper-9'],
        ['file', wav(25 * MIB - 43)],
      ],
      413,
      null,
    ],
    [
      '25 MiB and a byte, its model behind',
      [
        ['file', wav(25 * MIB - 43)],
        ['model', 'whisper-9'],
      ],
      413,
      null,
    ],
  ];

  test.each(REFUSED)('%s is refused, and nothing is charged', async (_name, fields, status, param) => {
    const { response, json } = await transcribe(fields);
    expect([response.status, json.error?.param]).toEqual([status, param]);
    if (param === 'file') expect(json.error?.message).not.toContain('in front of');
    expect(await spent()).toBe(0);
  });

  test('bodies of another kind, and forms that break off, are refused', async () => {
    const typed = (type: string, body: string) =>
      send('/v1/audio/transcriptions', { body, headers: { 'content-type': type } });
    expect((await typed('application/json', '{}')).response.status).toBe(415);
    const zipped = await send('/v1/audio/transcriptions', {
      body: Bun.gzipSync('--b--') as never,
      headers: { 'content-type': 'multipart/form-data; boundary=b', 'content-encoding': 'gzip' },
    });
    expect([zipped.response.status, zipped.json.error?.param]).toEqual([415, 'Content-Encoding']);
    expect((await typed('multipart/form-data', 'x')).json.error?.param).toBe('Content-Type');
    const cut = '--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nwhisper-9\r\n--b\r\nContent-Disp';
    expect((await typed('multipart/form-data; boundary=b', cut)).json.error?.message).toContain('incomplete');
    const broken = await send('/v1/audio/transcriptions', { body: HALF as never, headers: HALF_HEADERS });
    expect([broken.response.status, broken.json.error?.message]).toEqual([
      400,
      'The form in the request body is incomplete.',
    ]);
    expect(await spent()).toBe(0);
  });

  test('a caller that leaves in the middle of its file pays nothing: no vendor has the form', async () => {
    const leaving = new AbortController();
    const headers = { authorization: `Bearer ${apiKey}`, ...HALF_HEADERS };
    // More than anybody keeps on the way: the vendor has the beginning.
    const pieces = [HALF, ...Array<Buffer>(8).fill(LONG.subarray(44, MIB))];
    const body = new ReadableStream({
      pull: (controller) => {
        const piece = pieces.shift();
        if (piece !== undefined) controller.enqueue(piece);
      },
    });
    const url = `${world.gateway.url}/v1/audio/transcriptions`;
    const left = fetch(url, { method: 'POST', headers, body, signal: leaving.signal });
    left.catch(() => undefined);
    await waitUntil(() => pieces.length === 0);
    leaving.abort();
    const rows: LogRow[] = [];
    while (rows.length === 0) rows.push(...(await allLogs(world.gateway, `project_id=${projectId}`)));
    expect(rows[0]).toMatchObject({ status: 'aborted', cost_usd: 0 });
    expect(await spent()).toBe(0);
  });

  test('strict caps take what has a bound', async () => {
    await update({ strict_caps: true, monthly_cap_usd: 100 });
    const bounded = await transcribe([
      ['model', 'whisper-9'],
      ['file', SHORT],
    ]);
    expect(bounded.response.status).toBe(200);
    const flac = Buffer.concat([Buffer.from('fLaC'), Buffer.alloc(100)]);
    const refused = await transcribe([
      ['model', 'whisper-9'],
      ['file', flac],
    ]);
    expect([refused.response.status, refused.json.error?.code, refused.json.error?.param]).toEqual([
      ...[400, 'request_over_limit', 'file'],
    ]);
    const speech = await say({ model: 'gpt-tts-9', input: 'hello' });
    expect([speech.json.error?.code, speech.json.error?.param]).toEqual(['request_over_limit', 'model']);
  });

  test('a model without a price is refused', async () => {
    const { json } = await transcribe([
      ['model', 'openai/whisper-unpriced'],
      ['file', SHORT],
    ]);
    expect(json.error?.code).toBe('model_not_priced');
    expect((await say({ model: 'openai/tts-unpriced', input: 'x' })).json.error?.code).toBe('model_not_priced');
    expect(received()).toBe(0);
  });

  const SPOKEN: readonly [
    body: Record<string, unknown>,
    told: FakeBehaviour,
    nanoUsd: number,
    row: Record<string, unknown>,
  ][] = [
    [{ model: 'tts-9', input: 'hello you' }, {}, 135_000, { units: { characters: 9 }, cost_estimated: false }],
    [{ model: 'tts-9', input: '😀é' }, {}, 30_000, { units: { characters: 2 } }],
    // Text 10 × 600 + audio 200 × 12,000, which only events tell.
    [{ model: 'gpt-tts-9', input: 'hello you' }, {}, 2_406_000, { tokens_in: 10, tokens_out: 200 }],
    // Untold: three tokens in, two out for each character.
    [{ model: 'gpt-tts-9', input: 'hello you' }, { usage: null }, 217_800, { tokens_out: 18, cost_estimated: true }],
  ];

  test.each(SPOKEN)('speech of %j with %j costs %d nano-USD', async (body, told, nanoUsd, expected) => {
    world.upstream.control.setDefault(told);
    const { response, bytes, row } = await say(body);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'audio/mpeg']);
    expect(bytes).toEqual(fakeSpeech({ ...body, voice: 'alloy' }));
    expect(await row()).toMatchObject({
      ...{ status: 'success', dialect: 'openai-speech', modality: 'audio', cost_usd: nanoUsd / 1e9 },
      ...expected,
    });
  });

  test('Gemini speaks in WAV or samples, and refuses what it lacks', async () => {
    const body = { model: 'gemini-9-tts', input: 'hello', instructions: 'Say cheerfully', voice: 'Kore' };
    const spoken = await say(body);
    expect([spoken.response.status, spoken.response.headers.get('content-type')]).toEqual([200, 'audio/wav']);
    expect(readAudio(spoken.bytes, spoken.bytes.length)).toMatchObject({ format: 'wav' });
    expect(world.upstream.requests.at(-1)?.body).toMatchObject({
      contents: [{ parts: [{ text: 'Say cheerfully: hello' }] }],
      generationConfig: { speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } } },
    });
    // Text 10 × 1000 + sound 200 × 20,000.
    expect(await spoken.row()).toMatchObject({ cost_usd: 0.00401, tokens_out: 200, cost_estimated: false });
    const samples = await say({ ...body, response_format: 'pcm' });
    expect(samples.bytes).toEqual(spoken.bytes.subarray(44));
    world.upstream.control.setDefault({ usage: null });
    expect(await (await say({ ...body, input: 'untold' })).row()).toMatchObject({ cost_estimated: true });
    for (const field of [{ response_format: 'mp3' }, { stream_format: 'sse' }, { speed: 2 }]) {
      const refused = await say({ ...body, ...field });
      expect([refused.json.error?.code, refused.json.error?.param]).toEqual([
        'unsupported_parameter',
        Object.keys(field)[0],
      ]);
    }
  });

  test('the official SDK speaks, in bytes and in events', async () => {
    const request = { model: 'gpt-tts-9', input: 'good morning', voice: 'alloy' } as const;
    const plain = await sdk().audio.speech.create(request);
    expect(Buffer.from(await plain.arrayBuffer())).toEqual(fakeSpeech(request));
    const events = await say({ ...request, stream_format: 'sse' });
    expect(events.response.headers.get('content-type')).toStartWith('text/event-stream');
    expect(events.text).toContain('"type":"speech.audio.done"');
    expect(await events.row()).toMatchObject({ tokens_out: 200, cost_usd: 0.002406 });
    const key = crypto.randomUUID();
    const first = await say({ ...request }, { 'idempotency-key': key });
    const second = await say({ ...request }, { 'idempotency-key': key });
    expect([first.bytes, second.bytes]).toEqual([fakeSpeech(request), fakeSpeech(request)]);
    expect([second.response.headers.get('x-idempotent-replay'), received()]).toEqual(['true', 3]);
  });

  test('characters are an exact bill, as events and from the cache too', async () => {
    const asked = { model: 'tts-9', input: 'hello you' };
    const bill = { cost_usd: 0.000_135, cost_estimated: false, units: { characters: 9 } };
    const events = await say({ ...asked, stream_format: 'sse' });
    expect(events.text).toContain('"type":"speech.audio.done"');
    expect(await events.row()).toMatchObject(bill);
    world.upstream.control.setDefault({ usage: null });
    expect(await (await say({ ...asked, stream_format: 'sse' })).row()).toMatchObject(bill);
    const kept = await say(asked, { 'X-LLM0-Cache-TTL': '60' });
    expect(await kept.row()).toMatchObject(bill);
  });

  test('short speech of a known length is sent whole', async () => {
    const asked = { model: 'tts-9', input: 'good morning' };
    const { response, bytes } = await say(asked);
    expect(response.headers.get('content-length')).toBe(String(bytes.length));
    expect(bytes).toEqual(fakeSpeech({ ...asked, voice: 'alloy' }));
  });

  test('speech that breaks off is billed, and looks broken', async () => {
    world.upstream.control.setDefault({ truncateAfter: 3, gapMs: 100 });
    const response = await fetch(`${world.gateway.url}/v1/audio/speech`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-tts-9', input: 'hello you', voice: 'alloy' }),
    });
    expect(response.arrayBuffer()).rejects.toThrow();
    const row = await logRow(world.gateway, response.headers.get('x-request-id') ?? '');
    expect(row).toMatchObject({ status: 'error', cost_estimated: true });
    expect(row.cost_usd).toBeGreaterThan(0);
  });

  test('guardrails judge what is said, and refuse what they cannot hear', async () => {
    const rule = { name: 'words', on: 'both', check: { type: 'words', words: ['morning'] }, action: 'redact' };
    const put = (rules: unknown[]) =>
      callAdmin(world.gateway, `/projects/${projectId}/guardrails`, {
        method: 'PUT',
        body: { mode: 'enforce', rules },
      });
    await put([rule]);
    const spoken = await say({ model: 'tts-9', input: 'good morning' });
    expect(spoken.bytes.toString()).not.toContain('morning');
    const heard = await transcribe([
      ['model', 'whisper-9'],
      ['file', SHORT],
    ]);
    expect([heard.response.status, heard.json.error?.param]).toEqual([400, 'file']);
    await put([{ ...rule, on: 'output', check: { type: 'words', words: ['recording'] } }]);
    const judged = await transcribe([
      ['model', 'whisper-9'],
      ['response_format', 'verbose_json'],
      ['file', SHORT],
    ]);
    expect(judged.text).not.toContain('recording');
    expect(judged.json.text).toStartWith('Hello from the ');
    const subtitles = await transcribe([
      ['model', 'whisper-9'],
      ['response_format', 'srt'],
      ['file', SHORT],
    ]);
    const time = '00:00:01,500 --> 00:00:03,000';
    expect(subtitles.text).toBe(`1\n00:00:00,000 --> 00:00:01,500\nHello from\n\n2\n${time}\nthe [WORD].\n\n`);
    const before = received();
    await put([{ ...rule, on: 'output', action: 'block' }]);
    const unsaid = await say({ model: 'tts-9', input: 'good morning' });
    expect([unsaid.response.status, unsaid.json.error?.param, received()]).toEqual([400, 'words', before]);
  });

  test.each([
    [{ voice: 'alloy' }, 'input'],
    [{ input: '', voice: 'alloy' }, 'input'],
    [{ input: 'x'.repeat(4097), voice: 'alloy' }, 'input'],
    [{ input: 'x', voice: 3 }, 'voice'],
    [{ input: 'x', voice: 'alloy', stream_format: 'ndjson' }, 'stream_format'],
  ])('speech of %j is refused', async (body, param) => {
    const { response, json } = await say({ model: 'tts-9', ...body });
    expect([response.status, json.error?.param]).toEqual([400, param]);
    expect(received()).toBe(0);
  });
});
