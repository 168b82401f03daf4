import { describe, expect, test } from 'bun:test';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { createSecretVault } from '@llm0/core/keys/secret-vault';
import { TurnQueue } from '@llm0/core/limits/turn-queue';
import { Peers } from '@llm0/core/routing/places/peers';
import type { StoredProviderKey } from '@llm0/drizzle/queries/routing/provider-keys';
import type { StoredProvider } from '@llm0/drizzle/queries/routing/providers';
import { CUSTOM_KIND } from '@llm0/providers/openai-compatible/create-custom-provider';
import { createProviderRegistry } from '@llm0/providers/registry';
import { readEgressAllow } from '@llm0/providers/transport/egress/egress-allow';
import { pino } from 'pino';
import type { ProviderSetting } from '../config/providers';
import { ProviderConnections } from './connections';
import { SlotTable } from './slot-table';

const vault = createSecretVault(new Uint8Array(32).fill(7));

/** Texts of references. */
const kept = new Map<string, string>();
const secrets = {
  prepare: async (references: ReadonlySet<string>) => {
    prepared.push([...references]);
  },
  read: (reference: string) => kept.get(reference),
  renew: async (reference: string) => kept.get(reference),
  isAway: () => false,
  problemOf: () => undefined,
};
const prepared: string[][] = [];

const open = (providers: readonly ProviderSetting[] = []) =>
  new ProviderConnections({
    secrets,
    ...{ config: { providers, demoProvider: false }, registry: createProviderRegistry(), vault, fetch },
    ...{ egress: readEgressAllow(['127.0.0.1']), monotonicMs: () => performance.now(), log: pino({ level: 'silent' }) },
    slots: new SlotTable(new Peers(), new TurnQueue()),
  });

const server = (name: string, kind: string = CUSTOM_KIND): StoredProvider => ({
  ...{ id: crypto.randomUUID(), name, kind, baseUrl: 'http://127.0.0.1:9/v1', options: {}, models: [] },
  ...{
    encryptedHeaders: null,
    encryptionKeyId: null,
    headerNames: [],
    passthroughPaths: [],
    requestTimeoutMs: null,
    answerTimeoutMs: null,
    drain: false,
    maxConcurrency: null,
    healthCheckIntervalMs: null,
    isActive: true,
  },
  ...{ createdAtMs: 0, updatedAtMs: 0 },
});

function key(provider: string, projectId: string | null, isActive = true, text?: string): StoredProviderKey {
  const id = crypto.randomUUID();
  const { keyId, bytes } = vault.seal(text ?? `sk-of-${projectId ?? 'everybody'}`, id);
  return {
    ...{ id, provider, projectId, isActive, name: 'litellm', encryptedKey: bytes, encryptionKeyId: keyId },
    ...{ lastCharacters: 'last', maxConcurrency: null, position: null, createdAtMs: 0, updatedAtMs: 0 },
  };
}

describe('owner of a server without a key', () => {
  const keyOf = (connections: ProviderConnections, projectId?: string, name = 'house') => {
    const connected = connections.connect(name, projectId);
    return connected && (connected.connection.apiKey ?? 'none');
  };

  test('everybody, while nobody has a key for it', () => {
    const connections = open();
    connections.load([server('house')], []);
    expect([keyOf(connections), keyOf(connections, 'other')]).toEqual(['none', 'none']);
  });

  test.each([true, false])('single projects, once they have keys for it (active: %p)', (isActive) => {
    const connections = open();
    connections.load([server('house')], [key('house', 'corp', isActive)]);
    expect(keyOf(connections, 'corp')).toBe(isActive ? 'sk-of-corp' : undefined);
    expect([keyOf(connections), keyOf(connections, 'other')]).toEqual([undefined, undefined]);
    expect(connections.all().has('house')).toBe(isActive);
  });

  test('everybody again, with a key for everybody', () => {
    const connections = open();
    connections.load([server('house')], [key('house', 'corp'), key('house', null)]);
    expect([keyOf(connections, 'corp'), keyOf(connections, 'other')]).toEqual(['sk-of-corp', 'sk-of-everybody']);
  });

  test("Ollama by the environment stays everybody's, by what is stored it is theirs who have keys", () => {
    const keys = [key('ollama', 'corp')];
    const setting = { name: 'ollama', baseUrl: 'http://127.0.0.1:9' } as ProviderSetting;
    const byEnvironment = open([setting]);
    byEnvironment.load([], keys);
    expect(keyOf(byEnvironment, 'other', 'ollama')).toBe('none');
    const stored = open();
    stored.load([server('ollama', 'ollama')], keys);
    expect(keyOf(stored, 'other', 'ollama')).toBeUndefined();
    expect(keyOf(stored, 'corp', 'ollama')).toBe('sk-of-corp');
  });
});

test('models are told by added servers alone, and by those whose models nobody named', () => {
  const connections = open();
  // A server that was added by a name which later became a vendor's stays the operator's own.
  const added = [server('house'), { ...server('named'), models: ['m'] }, server('cohere')];
  connections.load(added, [key('openai', null)]);
  expect(['house', 'named', 'cohere', 'openai', 'gone'].map((name) => connections.tellsModels(name))).toEqual([
    ...[true, false, true, false, false],
  ]);
});

test('keys of secret managers: read before they are used, unreadable until then, and fresh with another secret', async () => {
  const setting = { name: 'openai', apiKey: 'vault:a#key', furtherKeys: ['sk-plain'] } as ProviderSetting;
  const connections = open([setting]);
  const stored = key('anthropic', null, true, 'gcp-sm:projects/p/secrets/s');
  await connections.prepare([stored, key('gemini', null), key('groq', null, false, 'vault:off#key')]);
  expect(prepared.at(-1)).toEqual(['vault:a#key', 'gcp-sm:projects/p/secrets/s', 'vault:off#key']);
  connections.load([], [stored]);
  const next = (name: string) => connections.connect(name)?.keys?.next(new Set());
  expect(connections.keyState(stored)).toBe('unreadable');
  expect([next('openai')?.apiKey, next('anthropic')?.apiKey]).toEqual(['sk-plain', undefined]);
  kept.set('vault:a#key', 'sk-vault').set('gcp-sm:projects/p/secrets/s', 'sk-google');
  connections.load([], [stored]);
  expect([next('openai')?.apiKey, next('anthropic')?.apiKey]).toEqual(['sk-vault', 'sk-google']);
  expect(connections.keyState(stored)).toBe('ok');
  const connection = next('anthropic');
  const refusal = new GatewayError('upstream_error', 'no', { failure: 'auth', upstreamStatus: 401 });
  if (connection !== undefined) connections.connect('anthropic')?.keys?.refused(connection, refusal);
  connections.load([], [stored]);
  expect(connections.keyState(stored)).toBe('refused');
  kept.set('gcp-sm:projects/p/secrets/s', 'sk-rotated');
  connections.load([], [stored]);
  expect([connections.keyState(stored), next('anthropic')?.apiKey]).toEqual(['ok', 'sk-rotated']);
});
