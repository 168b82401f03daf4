import { describe, expect, test } from 'bun:test';
import {
  boundBody,
  type GivenBodies,
  type LoggedBodies,
  MAX_BODY_CHARACTERS,
  noBodyLog,
  StoredBodyLog,
} from './body-log';

const bodies = (request: unknown, response?: string): GivenBodies => ({
  requestId: 'r',
  projectId: 'p',
  createdAtMs: 1,
  request,
  response,
});

describe('bodies of requests', () => {
  test('secrets are gone before anything is written', async () => {
    const written: LoggedBodies[] = [];
    const log = new StoredBodyLog({ write: async (batch) => void written.push(...batch), onDrop: () => {} });
    log.keep(() =>
      bodies(
        { messages: [{ content: 'my key is sk-abcdefghijklmnop1234' }], api_key: 'hunter2' },
        '{"a":"Bearer abcdefgh123"}',
      ),
    );
    await log.flush(1000);
    expect(JSON.stringify(written)).not.toMatch(/abcdefgh|hunter2/);
    expect(written[0]?.request).toContain('my key is [redacted]');
    expect(written[0]?.response).toBe('{"a":"Bearer [redacted]"}');
  });

  test("the provider's last request is stored without secrets, for its project only", async () => {
    const written: LoggedBodies[] = [];
    const log = new StoredBodyLog({ write: async (batch) => void written.push(...batch), onDrop: () => {} });
    log.noteSent('r', '{"first":1}');
    log.noteSent('r', new TextEncoder().encode('{"model":"m","key":"sk-abcdefghijklmnop1234"}'));
    log.noteSent('large', { value: { text: 'x'.repeat(300_000) } });
    log.noteSent('odd', 'not JSON');
    for (const requestId of ['r', 'large', 'odd', 'none', 'r']) log.keep(() => ({ ...bodies({}), requestId }));
    await log.flush(1000);
    const sent = (id: string) => written.filter(({ requestId }) => requestId === id).map((one) => one.upstreamRequest);
    expect(sent('r')).toEqual(['{"model":"m","key":"[redacted]"}', null]);
    expect(sent('large')[0]).toStartWith('{"truncated":true');
    expect([...sent('odd'), ...sent('none')]).toEqual([null, null]);
  });

  test('the oldest requests without bodies are dropped', async () => {
    const written: LoggedBodies[] = [];
    const log = new StoredBodyLog({ write: async (batch) => void written.push(...batch), onDrop: () => {} });
    for (let n = 0; n <= 1000; n++) log.noteSent(`r${n}`, '{}');
    for (const requestId of ['r0', 'r1']) log.keep(() => ({ ...bodies({}), requestId }));
    await log.flush(1000);
    expect(written.map((one) => one.upstreamRequest)).toEqual([null, '{}']);
  });

  test('a long body is cut and says so, and no part of a secret shows at the cut', () => {
    const long = `${'a '.repeat(MAX_BODY_CHARACTERS / 2 - 10)} llm0_live_${'0123456789abcdef'.repeat(4)} and a tail`;
    const kept = JSON.parse(boundBody({ text: long }) ?? '') as {
      truncated: boolean;
      characters: number;
      text: string;
    };
    expect(kept.truncated).toBe(true);
    expect(kept.text.length).toBe(MAX_BODY_CHARACTERS);
    expect(kept.text).not.toContain('llm0_live');
    const huge = JSON.parse(boundBody({ text: 'x'.repeat(5_000_000) }) ?? '') as { characters: number };
    expect(huge.characters).toBe(5_000_011);
  });

  test('a body of just the cap stays whole', () => {
    const body = { text: 'x'.repeat(MAX_BODY_CHARACTERS - '{"text":""}'.length) };
    expect(JSON.parse(boundBody(body) ?? '')).toEqual(body);
    expect(boundBody({ text: `${body.text}x` })).toContain('"truncated":true');
  });

  test('unreadable events are dropped and counted, and off does nothing', async () => {
    let dropped = 0;
    const log = new StoredBodyLog({
      write: async () => {},
      onDrop: (n) => {
        dropped += n;
      },
    });
    log.keep(() => bodies({}, 'not JSON'));
    expect(dropped).toBe(1);
    noBodyLog.keep(() => {
      throw new Error('must not be asked');
    });
    await noBodyLog.flush(0);
  });
});
