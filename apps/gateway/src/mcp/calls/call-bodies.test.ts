import { describe, expect, test } from 'bun:test';
import { type LoggedBodies, noBodyLog, StoredBodyLog } from '@llm0/core/logs/body-log';
import { recordCallBodies } from './call-bodies';

const call = { id: crypto.randomUUID(), projectId: crypto.randomUUID(), createdAtMs: 5 };
const SECRET = 'sk-abcdefghijklmnop123456';

async function keptOf(given: Omit<Parameters<typeof recordCallBodies>[1], keyof typeof call>) {
  const kept: LoggedBodies[] = [];
  const write = async (bodies: readonly LoggedBodies[]) => void kept.push(...bodies);
  let dropped = 0;
  const bodyLog = new StoredBodyLog({ write, onDrop: () => dropped++ });
  recordCallBodies({ bodyLog }, { ...call, ...given });
  await bodyLog.flush(5_000);
  bodyLog.stop();
  return { kept, dropped };
}

describe('arguments and results of tool calls', () => {
  test('are kept by the id of the call, without the message around them and without secrets', async () => {
    const params = { name: 'search', arguments: { text: SECRET }, _meta: { progressToken: 1 } };
    const answer = JSON.stringify({ jsonrpc: '2.0', id: 7, result: { content: [{ type: 'text', text: SECRET }] } });
    const { kept } = await keptOf({ params, answer });
    expect(kept).toEqual([
      {
        ...{ requestId: call.id, projectId: call.projectId, createdAtMs: 5, upstreamRequest: null },
        request: '{"text":"[redacted]"}',
        response: '{"content":[{"type":"text","text":"[redacted]"}]}',
      },
    ]);
  });

  test('an error is a result too; of what got no answer the arguments are kept', async () => {
    const refused = await keptOf({ params: { name: 'x' }, answer: '{"id":1,"error":{"code":-1,"message":"no"}}' });
    expect(refused.kept).toMatchObject([{ request: '{"name":"x"}', response: '{"error":{"code":-1,"message":"no"}}' }]);
    const unanswered = await keptOf({ params: { arguments: { a: 1 } } });
    expect(unanswered.kept).toMatchObject([{ request: '{"a":1}', response: null }]);
  });

  test('ten megabytes are a text of bounded length that says how long it was, without secrets', async () => {
    const params = { arguments: { text: `${SECRET} ${'a '.repeat(2_000_000)}` } };
    const answer = JSON.stringify({ result: { text: `${SECRET} ${'b '.repeat(5_000_000)}` } });
    const [bodies] = (await keptOf({ params, answer })).kept;
    for (const [text, characters] of [
      [bodies?.request, 4_000_000],
      [bodies?.response, answer.length],
    ] as const) {
      const shown = JSON.parse(text ?? '');
      expect(shown.truncated).toBe(true);
      expect(shown.characters).toBeGreaterThan(characters - 50);
      expect(shown.text.length).toBe(256 * 1024);
      expect(text).not.toContain('abcdefghijklmnop');
    }
  });

  test('invalid JSON is dropped and counted; without LOG_BODIES nothing is read', async () => {
    expect(await keptOf({ params: {}, answer: 'no JSON' })).toEqual({ kept: [], dropped: 1 });
    recordCallBodies({ bodyLog: noBodyLog }, { ...call, params: {}, answer: 'no JSON' });
  });
});
