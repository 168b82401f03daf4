import { afterAll, beforeAll, expect, test } from 'bun:test';
import { hostGateway } from '../stores/host-gateway';
import { callAdmin, createTestKey, type GatewayProcess } from '../stores/start-gateway';
import { ask, postChat, type StoreKind, shareEnvironment, type TestEnvironment } from './environment';

const SETUP_MS = 60_000;
export const TEST_MS = 30_000;
export const MODEL = 'gpt-4o-mini';
export const CUSTOMER = 'ann';

export interface Key {
  readonly projectId: string;
  readonly keyId: string;
  readonly apiKey: string;
}
interface Change {
  readonly method: 'PATCH' | 'PUT' | 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: object;
}

/** A change that takes something away, and the one that gives it back. */
export interface Case {
  readonly name: string;
  readonly project?: Record<string, unknown>;
  readonly key?: Record<string, unknown>;
  /** Brings about what is taken away, where it is not there from the start; its `id` is `made`. */
  readonly setUp?: (key: Key, upstreamUrl: string) => Change;
  readonly tighten: (key: Key, made: string) => Change;
  readonly loosen: (key: Key, made: string) => Change;
  readonly model?: string;
  readonly more?: object;
  /** What the request is refused with, or what is in its answer's header instead. */
  readonly refusal: string;
}

/** `Hi` is what every request says. */
export const NO_GREETING = {
  name: 'no greetings',
  on: 'input',
  check: { type: 'words', words: ['hi'] },
  action: 'block',
};
/** A gateway, and another on the same stores where there can be one. */
export function openReplicas(kind: StoreKind) {
  let world: TestEnvironment;
  const replicas: GatewayProcess[] = [];
  beforeAll(async () => {
    const env = {
      FAILOVER_MODE: 'cloud_only',
      // The log is no background job: the last test looks at it.
      DISABLE_BACKGROUND_WORKERS: 'true',
    };
    world = await shareEnvironment({ kind, allVendors: false, env });
    replicas.push(world.gateway);
    // Beside embedded stores there can be no other.
    if (kind === 'real') replicas.push(await hostGateway({ env: world.env }));
  }, SETUP_MS);
  afterAll(async () => {
    await replicas[1]?.kill();
    await world.close();
  }, SETUP_MS);

  return {
    /** All of them. */
    replicas,
    get world() {
      return world;
    },
  };
}

/** Tightened through one gateway, a setting refuses the next request in each; loosened, it lets it pass. */
export function testChanges(opened: ReturnType<typeof openReplicas>, cases: readonly Case[]): void {
  const apply = async ({ method, path, body }: Change): Promise<string> =>
    (await callAdmin<{ id?: string } | undefined>(opened.world.gateway, path, { method, body }))?.id ?? '';

  test.each(cases.map((one) => [one.name, one] as const))(
    '%s',
    async (_name, one) => {
      const key = await createTestKey(opened.world.gateway, {
        project: { cache_enabled: false, ...one.project },
        key: one.key,
      });
      let made = one.setUp === undefined ? '' : await apply(one.setUp(key, opened.world.upstream.baseUrl));
      const isRefused = async (gateway: GatewayProcess): Promise<boolean> => {
        const body = ask('Hi', { model: one.model ?? MODEL, max_tokens: undefined, ...one.more });
        const answer = await postChat(gateway, key.apiKey, body, { headers: { 'x-customer-id': CUSTOMER } });
        const text = await answer.text();
        const [name, value] = one.refusal.split(': ');
        if (value !== undefined) return answer.headers.get(name ?? '') === value;
        if (answer.status === 200) return false;
        expect(text).toContain(`"code":"${one.refusal}`);
        return true;
      };
      // Each process has seen key, project and tables before anything changes.
      for (const gateway of [...opened.replicas, ...opened.replicas]) await isRefused(gateway);
      for (const gateway of opened.replicas) {
        await apply(one.tighten(key, made));
        if (one.refusal === 'rate_limit_exceeded') await isRefused(gateway);
        expect([one.name, 'tighter', await isRefused(gateway)]).toEqual([one.name, 'tighter', true]);
        made = (await apply(one.loosen(key, made))) || made;
        expect([one.name, 'looser', await isRefused(gateway)]).toEqual([one.name, 'looser', false]);
      }
    },
    TEST_MS,
  );
}
