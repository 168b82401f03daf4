import { describe, expect, test } from 'bun:test';
import { threadMs } from '@llm0/testing/thread-time';
import { GatewayError } from '../errors/gateway-error';
import { createPriceBook, type PricedModel } from '../pricing/price-book';
import { resolveTargets } from './resolve-targets';
import { type ConfiguredProvider, createRoutingTables, type RoutingTables } from './routing-tables';

const priced = (provider: string, model: string): PricedModel => ({
  provider,
  model,
  mode: 'chat',
  prices: { input: 1 },
  capabilities: [],
});
const provider = (name: string, patterns: RegExp[], live: string[] = []): ConfiguredProvider => ({
  name,
  place: 'cloud',
  modelPatterns: patterns,
  liveModels: new Set(live),
});
const tables = (...providers: ConfiguredProvider[]): RoutingTables =>
  createRoutingTables({
    providers: new Map(providers.map((one) => [one.name, one])),
    prices: createPriceBook(
      [
        priced('acme', 'acme-large'),
        priced('acme', 'acme-small'),
        priced('cloud', 'acme-large'),
        priced('cloud', 'own/thing'),
      ],
      new Set(['local']),
    ),
  });
const acme = provider('acme', [/^acme-/]);
const cloud = provider('cloud', []);
const local = provider('local', [/:/], ['tiny:1b']);

describe('resolveTargets', () => {
  test('by name pattern before mere listing', () => {
    expect(resolveTargets('acme-large', tables(cloud, acme)).targets[0]).toMatchObject({
      provider: 'acme',
      model: 'acme-large',
    });
    expect(resolveTargets('acme-large', tables(cloud)).targets[0]).toMatchObject({
      provider: 'cloud',
      model: 'acme-large',
    });
  });

  test('provider/model only where the prefix is a configured provider', () => {
    expect(resolveTargets('cloud/anything/at-all', tables(cloud)).targets[0]).toMatchObject({
      provider: 'cloud',
      model: 'anything/at-all',
    });
    expect(resolveTargets('own/thing', tables(cloud)).targets[0]).toMatchObject({
      provider: 'cloud',
      model: 'own/thing',
    });
  });

  test('models listed by a local server resolve there first', () => {
    expect(resolveTargets('tiny:1b', tables(acme, local)).targets[0].provider).toBe('local');
  });

  describe('an added server that was asked what it serves', () => {
    const added = (...live: string[]): ConfiguredProvider => ({
      ...provider('added', [], live),
      yieldsToVendors: true,
    });
    const found = (model: string, ...providers: ConfiguredProvider[]) =>
      resolveTargets(model, tables(...providers)).targets[0].provider;

    test("does not take a vendor's name, whichever comes first", () => {
      const server = added('acme-large', 'own/thing');
      expect(found('acme-large', server, acme)).toBe('acme');
      expect(found('acme-large', acme, server)).toBe('acme');
      // By its price alone, without a pattern.
      expect(found('own/thing', server, cloud)).toBe('cloud');
      expect(found('added/acme-large', server, acme)).toBe('added');
    });

    test('has the names that nobody has a price for, and those of vendors that cannot be called', () => {
      expect(found('acme-oss', added('acme-oss'), acme)).toBe('added');
      expect(found('m1', added('m1'), acme, cloud)).toBe('added');
      expect(found('acme-small', added('acme-small'), cloud)).toBe('added');
    });

    test('goes behind a vendor by its price, too', () => {
      const of = (...providers: ConfiguredProvider[]) =>
        createRoutingTables({
          providers: new Map(providers.map((one) => [one.name, one])),
          prices: createPriceBook([priced('added', 'own/thing'), priced('cloud', 'own/thing')], new Set()),
        });
      expect(resolveTargets('own/thing', of(added(), cloud)).targets[0].provider).toBe('cloud');
      expect(resolveTargets('own/thing', of(added())).targets[0].provider).toBe('added');
    });
  });

  test('an unknown model is 404 with near names and never a guess', () => {
    try {
      resolveTargets('acmi-large', tables(acme));
      throw new Error('resolved');
    } catch (error) {
      expect(error).toBeInstanceOf(GatewayError);
      expect((error as GatewayError).kind).toBe('model_not_found');
      expect((error as GatewayError).message).toContain('acme-large');
    }
  });

  test(
    'a 100,000-character model name is answered shortly and quickly',
    () => {
      const start = threadMs();
      expect(() => resolveTargets('x'.repeat(100_000), tables(acme, cloud, local))).toThrow(/No configured provider/);
      expect(threadMs() - start).toBeLessThan(100);
    },
    { retry: 2 },
  );
});
