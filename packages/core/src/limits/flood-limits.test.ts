import { describe, expect, test } from 'bun:test';
import { runs } from '@llm0/testing/lane';
import fc from 'fast-check';
import { clientAddress, networkOf } from './client-network';
import { FloodLimits } from './flood-limits';

describe('buckets of requests', () => {
  test('a burst, then so many a second, with true waits; a refusal counts nothing', () => {
    const limits = new FloodLimits({ client: { perSecond: 10, burst: 3 } });
    for (let i = 0; i < 3; i++) expect(limits.take('a', 0)).toBeUndefined();
    for (let i = 0; i < 5; i++)
      expect(limits.take('a', 40)).toMatchObject({ limit: 'client', retryAfterMs: 60, resetMs: 260 });
    expect(limits.take('b', 40)).toBeUndefined();
    expect(limits.take('a', 100)).toBeUndefined();
    expect(limits.take('a', 100)).toMatchObject({ retryAfterMs: 100 });
  });

  test('refusals of the client limit cost others nothing', () => {
    const limits = new FloodLimits({ global: { perSecond: 1, burst: 2 }, client: { perSecond: 1, burst: 1 } });
    expect(limits.take('a', 0)).toBeUndefined();
    for (let i = 0; i < 10; i++) expect(limits.take('a', 0)?.limit).toBe('client');
    expect(limits.take('b', 0)).toBeUndefined();
    expect(limits.take('c', 0)).toMatchObject({ limit: 'global', retryAfterMs: 1000 });
    expect(limits.take('c', 1000)).toBeUndefined();
  });

  test('whenever they come, no more pass in any stretch than burst and rate allow, and who waits as told passes', () => {
    const rate = fc.record({ perSecond: fc.integer({ min: 1, max: 50 }), burst: fc.integer({ min: 1, max: 20 }) });
    fc.assert(
      fc.property(rate, fc.array(fc.integer({ min: 0, max: 200 }), { maxLength: 100 }), (client, pauses) => {
        const limits = new FloodLimits({ client });
        const passed: number[] = [];
        let nowMs = 0;
        for (const pauseMs of pauses) {
          nowMs += pauseMs;
          const refusal = limits.take('a', nowMs);
          if (refusal === undefined) passed.push(nowMs);
          else {
            nowMs += refusal.retryAfterMs;
            expect(limits.take('a', nowMs)).toBeUndefined();
            passed.push(nowMs);
          }
        }
        for (const [i, fromMs] of passed.entries()) {
          for (const [j, toMs] of passed.entries()) {
            if (j < i) continue;
            expect(j - i + 1).toBeLessThanOrEqual(client.burst + ((toMs - fromMs) / 1000) * client.perSecond + 1e-6);
          }
        }
      }),
      { numRuns: runs(100) },
    );
  });
});

describe('sender of a request', () => {
  test.each([
    ['9.9.9.9', null, 1, '9.9.9.9'],
    ['9.9.9.9', '1.1.1.1', 0, '9.9.9.9'],
    ['9.9.9.9', '1.1.1.1', 1, '1.1.1.1'],
    ['9.9.9.9', 'spoofed, 6.6.6.6, 1.1.1.1', 1, '1.1.1.1'],
    ['9.9.9.9', '6.6.6.6, 1.1.1.1, 10.0.0.2', 2, '1.1.1.1'],
    ['9.9.9.9', '1.1.1.1', 2, '9.9.9.9'],
    ['9.9.9.9', '6.6.6.6, unknown', 1, '9.9.9.9'],
    ['9.9.9.9', '6.6.6.6, [2001:db8::1]:443', 1, '2001:db8::1'],
    ['9.9.9.9', '6.6.6.6, 1.1.1.1:5123', 1, '1.1.1.1'],
  ] as const)('%s, "%s", %p hops: %s', (socket, forwardedFor, hops, client) => {
    expect(clientAddress(socket, forwardedFor, hops)).toBe(client);
  });

  test.each([
    ['1.2.3.4', '1.2.3.4'],
    ['::ffff:1.2.3.4', '1.2.3.4'],
    ['2001:DB8:0:7:aaaa::1', '2001:db8:0:7::/64'],
    ['2001:db8::7', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ])('%s is of %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });

  test('all addresses of a /64 are one client, however they are written', () => {
    const group = fc.integer({ min: 0, max: 0xffff });
    fc.assert(
      fc.property(fc.tuple(group, group, group, group), fc.tuple(group, group, group, group), (net, host) => {
        const hex = [...net, ...host].map((n) => n.toString(16));
        const padded = hex.map((h) => h.padStart(4, '0').toUpperCase()).join(':');
        expect(networkOf(padded)).toBe(networkOf(hex.join(':')));
        expect(networkOf(hex.join(':'))).toBe(`${hex.slice(0, 4).join(':')}::/64`);
      }),
    );
  });
});
