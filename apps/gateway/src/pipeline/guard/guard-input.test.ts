import { beforeEach, expect, test } from 'bun:test';
import type { ChatRequest } from '@llm0/core/chat/request';
import { GuardrailCompiler } from '@llm0/core/guardrails/compile-guardrails';
import { createTextChecks } from '@llm0/core/guardrails/create-checks';
import type { Guardrails } from '@llm0/core/guardrails/guardrails';
import type { GuardrailRule } from '@llm0/core/guardrails/policy';
import type { Authenticated } from '../request/authenticate';
import type { RequestContext } from '../request/open-context';
import { guardInput } from './guard-input';

const told: string[] = [];
const checks = createTextChecks({
  embed: async () => ({ type: 'vector', vector: Float32Array.of(0.1) }),
  askModel: async () => ({ text: '{}', costNanoUsd: 0 }),
  moderate: async () => ({ flagged: false, categories: [], costNanoUsd: 0 }),
  post: async ({ body }) => {
    told.push(body);
    return { status: 200, body: '{"verdict":"allow"}' };
  },
  webhookSecret: () => new Uint8Array(24),
  ...{ nowMs: Date.now, createId: () => 'id' },
});
const compiler = new GuardrailCompiler(checks);

type Rule = Pick<GuardrailRule, 'name' | 'action' | 'check'>;
const MAIL = { name: 'mail', check: { type: 'pii' } } as const;
const BLOCK: Rule = { ...MAIL, action: 'block' };
const REDACT: Rule = { ...MAIL, action: 'redact' };
const FLAG: Rule = { ...MAIL, action: 'flag' };
const HOOK: Rule = {
  ...{ name: 'hook', action: 'block' },
  check: { type: 'webhook', url: 'https://hook.example', timeoutMs: 1000 },
};

function guardrailsOf(...rules: Rule[]): Guardrails | undefined {
  const all = rules.map((rule): GuardrailRule => ({ on: 'input', onError: 'block', ...rule }));
  const policy = { mode: 'enforce', rules: all, pseudonymScope: 'request', version: 1 } as const;
  return compiler.compile({ policy, keyRules: null, pseudonymSecret: '' });
}

let looks = 0;
beforeEach(() => {
  looks = 0;
  told.length = 0;
});

/** What comes of a request where this process knows one policy and another one is in force. */
async function judge(known: Rule[], now: Rule[], guardrail?: string): Promise<string> {
  const principalOf = (rules: Rule[]) =>
    ({
      ...{ guardrails: guardrailsOf(...rules), keyHash: 'h' },
      ...{ key: { id: 'k', isActive: true, expiresAtMs: null }, project: { id: 'p', isActive: true } },
    }) as unknown as Authenticated;
  const services = {
    clock: { monotonicMs: () => performance.now(), nowMs: () => 0 },
    keyCache: { reload: async () => principalOf(now) },
    hotStore: {
      findStale: async () => {
        looks++;
        return known === now ? [] : ['principal'];
      },
      setVersions: async () => undefined,
    },
    refreshTables: async () => undefined,
  } as unknown as Parameters<typeof guardInput>[0];
  const ctx = { requestId: 'r', controls: { guardrail } } as unknown as RequestContext;
  const messages = [{ role: 'user', content: [{ type: 'text', text: 'I am a@b.com' }] }] as const;
  const request: ChatRequest = { model: 'm', messages, stream: false, extra: {} };
  const principal = principalOf(known);
  try {
    const guarded = await guardInput(services, { ctx, principal, request, progress: {} });
    const [said] = guarded?.request.messages[0]?.content ?? [];
    return said?.type === 'text' ? said.text : 'nothing is asked';
  } catch (error) {
    return (error as Error).message;
  }
}

const REFUSED = 'The guardrail "mail" of this project blocks this request.';

test('a request that passes what is known costs no look at the hot store: its decision tells', async () => {
  const rules = [REDACT];
  expect(await judge(rules, rules)).toBe('I am [EMAIL]');
  expect(looks).toBe(0);
});

test('a refusal is by what is in force now', async () => {
  const rules = [BLOCK];
  expect(await judge(rules, rules)).toBe(REFUSED);
  expect(looks).toBe(1);
  expect(await judge([BLOCK], [])).toBe('nothing is asked');
  expect(await judge([BLOCK], [FLAG])).toBe('I am a@b.com');
  expect(await judge([BLOCK], [REDACT])).toBe('I am [EMAIL]');
});

test('a rule that a caller names may be new', async () => {
  expect(await judge([], [FLAG], 'mail')).toBe(REFUSED);
  expect(await judge([HOOK], [HOOK, REDACT], 'mail')).toBe(REFUSED);
  const rules = [REDACT];
  expect(await judge(rules, rules, 'other')).toContain("names a rule that doesn't apply");
});

test('can_read_bodies applies at once', async () => {
  expect(await judge([HOOK], [])).toBe('nothing is asked');
  expect(await judge([REDACT, HOOK], [REDACT])).toBe('I am [EMAIL]');
  expect(told).toEqual([]);
  expect(await judge([HOOK], [REDACT, HOOK])).toBe('I am [EMAIL]');
  expect(told.map((body) => body.includes('a@b.com'))).toEqual([false]);
});
