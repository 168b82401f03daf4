// Loaded before the gateway (`BUN_OPTIONS=--preload=…`): counts what its code does and answers with it at a port of its own.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { plugin } from 'bun';
import { ROOT } from '../../../apps/gateway/bin/ensure-installed';
import { instrument } from './instrument';
import type { Work } from './work';

const PRODUCT = /\/(apps\/gateway\/(src|bin)|packages\/(core|providers)\/src|drizzle)\/.*\.ts$/;

const names: string[] = [];
let calls: number[] = [];
let allocations: number[] = [];
const requestWork = {
  called: (id: number) => {
    calls[id] = (calls[id] ?? 0) + 1;
  },
  made: (id: number) => {
    allocations[id] = (allocations[id] ?? 0) + 1;
  },
};
Object.assign(globalThis, { requestWork });

plugin({
  name: 'request-work',
  setup: (build) => {
    build.onLoad({ filter: PRODUCT }, ({ path }) => {
      const idOf = (name: string) => names.push(`${relative(ROOT, path)} ${name}`) - 1;
      return { contents: instrument(path, readFileSync(path, 'utf8'), idOf), loader: 'ts' };
    });
  },
});

/** All since it was asked last. Functions of one name in a file count as one. */
function take(): Work {
  const work: Record<string, { calls: number; allocations: number }> = {};
  for (const [id, name] of names.entries()) {
    const [called, made] = [calls[id] ?? 0, allocations[id] ?? 0];
    if (called + made === 0) continue;
    work[name] ??= { calls: 0, allocations: 0 };
    work[name].calls += called;
    work[name].allocations += made;
  }
  calls = [];
  allocations = [];
  return work;
}

const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => Response.json(take()) });
console.log(`request work: ${server.url}`);
