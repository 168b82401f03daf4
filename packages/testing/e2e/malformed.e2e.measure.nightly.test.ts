import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { makeCase } from '../attack/fuzz/make-case';
import { type OpenGateway, openGateway } from '../attack/fuzz/open-gateway';
import { playAll } from '../attack/fuzz/run-fuzz';

const REQUESTS = 20_000;
const RUN_MS = 240_000;
const seed = Number(process.env.TEST_SEED ?? Date.now() % 1_000_000);

let gateway: OpenGateway;
beforeAll(async () => {
  gateway = await openGateway();
}, RUN_MS);
afterAll(() => gateway.close(), RUN_MS);

test(
  `${REQUESTS} malformed requests: no 500, no crash, errors in their envelope, memory flat`,
  async () => {
    const lines: string[] = [];
    const result = await playAll(gateway, { seed, count: REQUESTS, from: 0, say: (line) => void lines.push(line) });
    if (!result.isClean) console.error(`TEST_SEED=${seed}\n${lines.join('\n')}`);
    expect(result.findings).toEqual([]);
    expect(result.isClean).toBe(true);
    expect(result.statuses.get(200) ?? 0).toBeGreaterThan(REQUESTS / 20);
    expect(result.statuses.get(400) ?? 0).toBeGreaterThan(REQUESTS / 20);
  },
  RUN_MS,
);

describe('the same seed and number', () => {
  test('make the same request, others another', () => {
    const make = (index: number) => makeCase(seed, index, gateway.grammar, gateway.credentials);
    const all = Array.from({ length: 50 }, (_, index) => make(index));
    expect(Array.from({ length: 50 }, (_, index) => make(index))).toEqual(all);
    expect(new Set(all.map(({ path, body }) => `${path} ${body}`)).size).toBeGreaterThan(30);
  });

  test('requests for the admin API are made out of its own description', () => {
    const paths = Array.from({ length: 2_000 }, (_, i) => makeCase(seed, i, gateway.grammar, gateway.credentials).path);
    const resources = new Set(paths.flatMap((path) => /^\/admin\/v1\/(\w+)/.exec(path)?.[1] ?? []));
    expect(resources.size).toBeGreaterThan(8);
  });
});
