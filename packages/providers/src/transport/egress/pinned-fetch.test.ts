import { describe, expect, test } from 'bun:test';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { readEgressAllow } from './egress-allow';
import { createPinnedFetch } from './pinned-fetch';

function setUp(addresses: string[], allow: readonly string[] = []) {
  const sent: { url: string; init: RequestInit & { tls?: { serverName?: string } } }[] = [];
  let nowMs = 0;
  let lookUps = 0;
  const fetch = createPinnedFetch({
    ...readEgressAllow(allow),
    provider: 'own',
    monotonicMs: () => nowMs,
    resolve: async () => {
      lookUps += 1;
      return [...addresses];
    },
    fetch: (async (url: string, init: RequestInit) => {
      sent.push({ url, init });
      return new Response('ok');
    }) as unknown as typeof globalThis.fetch,
  });
  const advance = (ms: number) => {
    nowMs += ms;
  };
  return { fetch, sent, lookUps: () => lookUps, advance };
}

async function failure(work: Promise<unknown>): Promise<GatewayError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error('nothing failed');
}

describe('a fetch for base URLs given at run time', () => {
  test('goes to the address that was checked, under the name that was asked for, and follows no redirect', async () => {
    const { fetch, sent, lookUps, advance } = setUp(['93.184.216.34']);
    await fetch('https://llm.example:8443/v1/chat?x=1', { method: 'POST', headers: { 'x-a': 'b' }, body: '{}' });
    const [request] = sent;
    expect(request?.url).toBe('https://93.184.216.34:8443/v1/chat?x=1');
    expect(Object.fromEntries(new Headers(request?.init.headers))).toEqual({ 'x-a': 'b', host: 'llm.example:8443' });
    expect(request?.init).toMatchObject({ method: 'POST', body: '{}', redirect: 'manual' });
    expect(request?.init.tls?.serverName).toBe('llm.example');
    await fetch('https://llm.example:8443/v1/models');
    expect(lookUps()).toBe(1);
    advance(60_001);
    await fetch('https://llm.example:8443/v1/models');
    expect(lookUps()).toBe(2);
  });

  test.each(['169.254.169.254', '10.0.0.7', '::1', '93.184.216.34,127.0.0.1'])(
    '%s is refused as unreachable, and nothing is sent',
    async (addresses) => {
      const { fetch, sent } = setUp(addresses.split(','));
      const error = await failure(fetch('https://llm.example/v1'));
      expect(error).toMatchObject({ failure: 'connection', kind: 'upstream_error' });
      expect(error.message).toBe('own cannot be reached: its URL leads to an address that is not public.');
      expect(sent).toEqual([]);
    },
  );

  test('a name whose address changes later is refused', async () => {
    const addresses = ['93.184.216.34'];
    const { fetch, advance } = setUp(addresses);
    await fetch('https://llm.example/v1');
    addresses[0] = '127.0.0.1';
    advance(60_001);
    expect((await failure(fetch('https://llm.example/v1'))).failure).toBe('connection');
  });

  test.each([
    ['10.1.0.0/16', '10.1.2.3', true],
    ['10.1.0.0/16', '10.2.2.3', false],
    ['10.1.2.3', '10.1.2.3', true],
    ['fd00::/8', 'fd12::1', true],
    ['fd00::/8', '10.0.0.1', false],
    ['llm.internal', '10.9.9.9', true],
    ['llm.internal:8000', '10.9.9.9', false],
    ['llm.internal:443', '10.9.9.9', false],
    ['other.internal', '10.9.9.9', false],
  ])('allowed: %s lets %s through: %p', async (allow, address, isAllowed) => {
    const { fetch, sent } = setUp([address], [allow]);
    const attempt = fetch('https://llm.internal/v1');
    if (isAllowed) await attempt;
    else await failure(attempt);
    expect(sent).toHaveLength(isAllowed ? 1 : 0);
  });

  test('a port in the list is meant', async () => {
    const { fetch, sent } = setUp(['10.9.9.9'], ['llm.internal:8000']);
    await fetch('http://llm.internal:8000/v1');
    await failure(fetch('http://llm.internal:9000/v1'));
    expect(sent).toHaveLength(1);
  });
});
