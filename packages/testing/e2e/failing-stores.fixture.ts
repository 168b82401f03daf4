import { expect } from 'bun:test';
import { type ChaosKeys, createChaosKeys } from '../chaos/chaos-keys';
import { ChaosLoad } from '../chaos/chaos-load';
import { type ChaosWorld, startWorld } from '../chaos/chaos-world';
import { readChaosLedger } from '../chaos/ledger';
import type { GatewayProcess } from '../stores/start-gateway';
import { ask, postChat, waitUntil } from './environment';

export const SETUP_MS = 60_000;
export const TEST_MS = 180_000;
const LEASE_MS = 4_000;
const LANES = 8;
const SETTLE_MS = 60_000;
/** For what is not about how soon a decision is made: the machine may be busy. */
export const PATIENT = { LLM0_TEST_ADMIT_DEADLINE_MS: '5000' };
/** Enough answers that a ledger says something. */
const WARM = 40;

/** What a caller sees of one request. */
export interface Seen {
  readonly status: number;
  readonly code: string | undefined;
  readonly retryAfter: string | null;
  readonly tookMs: number;
}

/** Asks again and again for a while. */
export async function watch(gateway: GatewayProcess, apiKey: string, forMs: number): Promise<Seen[]> {
  const seen: Seen[] = [];
  const endMs = performance.now() + forMs;
  while (performance.now() < endMs) {
    const startMs = performance.now();
    const answer = await postChat(gateway, apiKey, ask(`watching ${seen.length} ${crypto.randomUUID()}`));
    const body = (await answer.json()) as { error?: { code: string } };
    const tookMs = performance.now() - startMs;
    seen.push({ status: answer.status, code: body.error?.code, retryAfter: answer.headers.get('retry-after'), tookMs });
    await Bun.sleep(100);
  }
  return seen;
}

/** One gateway under load, on stores of its own that a test breaks. */
export class FailingStores {
  private constructor(readonly world: ChaosWorld) {}

  static async start(env: Readonly<Record<string, string>> = {}): Promise<FailingStores> {
    return new FailingStores(await startWorld({ stores: 'real', replicas: 1, leaseMs: LEASE_MS, env }));
  }

  private startedAtMs = 0;
  private load: ChaosLoad | undefined;
  private made: ChaosKeys | undefined;

  get gateway(): GatewayProcess {
    const up = this.world.replicas[0]?.process;
    if (up === undefined) throw new Error('the gateway is not up');
    return up;
  }

  get keys(): ChaosKeys {
    if (this.made === undefined) throw new Error('there is no load yet');
    return this.made;
  }

  /** New keys, and clients that ask with them until `stopLoad`. */
  async beginLoad(): Promise<void> {
    this.startedAtMs = this.world.calendar.nowMs();
    this.made = await createChaosKeys(this.gateway);
    const load = new ChaosLoad({ keys: this.made, replicas: this.world.replicas, seed: 1, lanes: LANES });
    this.load = load;
    await waitUntil(() => load.answers.size >= WARM, SETUP_MS);
  }

  async stopLoad(): Promise<void> {
    await this.load?.stop();
  }

  /** Nothing missing, nothing doubled, counters as the rows, no hold left. */
  async expectEven(): Promise<void> {
    await this.stopLoad();
    const ledger = await readChaosLedger({
      gateway: this.gateway,
      keys: this.keys,
      answers: this.load?.answers ?? new Map(),
      nowMs: this.world.calendar.nowMs(),
      startedAtMs: this.startedAtMs,
      timeoutMs: SETTLE_MS,
    });
    const { missing, doubled, unevenBudgets, differenceNanoUsd, rollupDifferenceNanoUsd, holds, queued, costsChanged } =
      ledger;
    expect({
      missing,
      doubled,
      unevenBudgets,
      differenceNanoUsd,
      rollupDifferenceNanoUsd,
      holds,
      queued,
      costsChanged,
    }).toEqual({
      missing: [],
      doubled: [],
      unevenBudgets: [],
      differenceNanoUsd: 0,
      rollupDifferenceNanoUsd: 0,
      holds: 0,
      queued: 0,
      costsChanged: [],
    });
    expect(ledger.answered).toBeGreaterThan(100);
  }

  async isDeciding(): Promise<void> {
    const endMs = performance.now() + 10_000;
    while (!(await this.world.replicas[0]?.isDeciding())) {
      if (performance.now() > endMs) throw new Error('it did not recover by itself');
      await Bun.sleep(50);
    }
  }
}
