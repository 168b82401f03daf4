import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { callAdmin, createTestKey } from '../stores/start-gateway';
import {
  ask,
  logRow,
  ON_ONE_KIND,
  postChat,
  settledLedger,
  shareEnvironment,
  type TestEnvironment,
  waitUntil,
} from './environment';

const SETUP_MS = 60_000;

interface Bodies {
  readonly request_id: string;
  readonly project_id: string;
  readonly request_body: { messages: { content: string }[]; stream?: boolean } | null;
  readonly upstream_request_body: { messages?: { content: unknown }[] } | null;
  readonly response_body: {
    choices?: { message?: { content: string }; text?: string }[];
    error?: { code: string };
    incomplete?: string;
  } | null;
}

for (const kind of ON_ONE_KIND) {
  describe(`prompts and answers on ${kind} stores`, () => {
    let world: TestEnvironment;
    beforeAll(async () => {
      world = await shareEnvironment({ kind, env: { LOG_BODIES: 'true' } });
    }, SETUP_MS);
    afterAll(() => world.close(), SETUP_MS);

    const bodiesOf = async (answer: Response): Promise<Bodies> => {
      const requestId = answer.headers.get('x-request-id') ?? '';
      for (let i = 0; ; i++) {
        try {
          return await callAdmin<Bodies>(world.gateway, `/logs/${requestId}/bodies`);
        } catch (error) {
          if (i === 100) throw error;
          await Bun.sleep(50);
        }
      }
    };

    test('plain, streamed, cached and refused bodies are stored without secrets', async () => {
      const { apiKey, projectId } = await createTestKey(world.gateway, { key: { rate_limit_per_minute: 3 } });
      const text = 'the key sk-abcdefghijklmnop123456 and a NUL \u0000 \ud83d';
      const question = ask(text, { x_fake: { text: 'answer \u0000 llm0_live_0123456789abcdef0123' } });
      const plain = await postChat(world.gateway, apiKey, question);
      expect(((await plain.json()) as { choices: unknown[] }).choices).toHaveLength(1);
      const kept = await bodiesOf(plain);
      expect(kept.project_id).toBe(projectId);
      expect(kept.request_body?.messages[0]?.content).toBe('the key [redacted] and a NUL \u0000 \ud83d');
      expect(kept.response_body?.choices?.[0]?.message?.content).toBe('answer \u0000 [redacted]');
      // What the provider got is kept too, without secrets; a cached answer asked none.
      expect(kept.upstream_request_body?.messages?.[0]?.content).toBe('the key [redacted] and a NUL \u0000 \ud83d');
      for (const stream of [true, false]) {
        const again = await postChat(world.gateway, apiKey, { ...question, stream });
        expect(again.status).toBe(200);
        expect(again.headers.get('x-cache-hit')).toBe('exact');
        await again.text();
        const bodies = await bodiesOf(again);
        expect(bodies.request_body?.stream).toBe(stream);
        expect(bodies.upstream_request_body).toBeNull();
        expect(bodies.response_body?.choices?.[0]?.message?.content).toBe('answer \u0000 [redacted]');
      }
      const refused = await postChat(world.gateway, apiKey, ask('one too many'));
      expect(refused.status).toBe(429);
      expect(await bodiesOf(refused)).toMatchObject({
        request_body: { messages: [{ content: 'one too many' }] },
        response_body: { error: { code: 'rate_limit_exceeded' } },
      });
    });

    test('sound that was sent and made can be heard', async () => {
      for (const [model, body] of [
        ['tts-kept', { mode: 'speech', character_usd_per_million: 15 }],
        ['whisper-kept', { mode: 'transcription', minute_usd: 0.006 }],
      ] as const) {
        await callAdmin(world.gateway, `/models?provider=openai&model=${model}`, { method: 'PUT', body });
      }
      const { apiKey } = await createTestKey(world.gateway);
      const send = async (path: string, body: BodyInit, headers: Record<string, string> = {}) => {
        const init = { method: 'POST', headers: { authorization: `Bearer ${apiKey}`, ...headers }, body };
        const answer = await fetch(`${world.gateway.url}/v1/audio/${path}`, init);
        return { answer, bytes: Buffer.from(await answer.arrayBuffer()) };
      };
      const asked = JSON.stringify({ model: 'tts-kept', input: 'Hello', voice: 'alloy' });
      const spoken = await send('speech', asked, { 'content-type': 'application/json' });
      expect(await bodiesOf(spoken.answer)).toMatchObject({
        request_body: { input: 'Hello' },
        response_body: { audio: { bytes: spoken.bytes.length, data: spoken.bytes.toString('base64') } },
      });
      const sound = Buffer.from('OggS and some sound');
      const form = new FormData();
      form.append('model', 'whisper-kept');
      form.append('file', new Blob([sound], { type: 'audio/ogg' }), 'a.ogg');
      const heard = await send('transcriptions', form);
      expect(await bodiesOf(heard.answer)).toMatchObject({
        request_body: { file: { name: 'a.ogg', type: 'audio/ogg', bytes: 19, data: sound.toString('base64') } },
        response_body: { text: 'Hello from the recording.' },
      });
    });

    test('stores the part before the caller left', async () => {
      const { upstream, gateway } = world;
      const { apiKey } = await createTestKey(gateway);
      const leaving = new AbortController();
      const slow = ask('leave', { stream: true, x_fake: { text: 'abcdef', chunks: 6, hangAfter: 3 } });
      const answer = await postChat(gateway, apiKey, slow, { signal: leaving.signal });
      const reader = answer.body?.getReader();
      let seen = '';
      while (!seen.includes('"c"')) seen += new TextDecoder().decode((await reader?.read())?.value);
      const cancelled = upstream.control.counters.cancelled;
      leaving.abort();
      await waitUntil(() => upstream.control.counters.cancelled > cancelled);
      expect(await bodiesOf(answer)).toMatchObject({
        response_body: { incomplete: 'client_closed', choices: [{ text: 'abc' }] },
      });
    });
  });
}

describe('without LOG_BODIES', () => {
  test('nothing is kept', async () => {
    const world = await shareEnvironment({ kind: 'real' });
    try {
      const { apiKey } = await createTestKey(world.gateway);
      const answer = await postChat(world.gateway, apiKey, ask('nobody reads this'));
      await answer.text();
      const id = answer.headers.get('x-request-id') ?? '';
      await logRow(world.gateway, id);
      await settledLedger(world.gateway);
      const path = `/logs/${id}/bodies`;
      await expect(callAdmin(world.gateway, path)).rejects.toThrow(/404/);
    } finally {
      await world.close();
    }
  });
});
