import { shareEnvironment, type TestEnvironment } from '../e2e/environment';
import { createTestKey } from '../stores/start-gateway';
import type { ClientDriver, ConnectedClient } from './client-driver';
import { aiSdkClients } from './clients/ai-sdk';
import { anthropicClient } from './clients/anthropic-messages';
import { googleGenaiClient } from './clients/google-genai';
import { langchainClients } from './clients/langchain';
import { openaiChatClient } from './clients/openai-chat';
import { openaiResponsesClient } from './clients/openai-responses';
import { pythonClients } from './clients/python';
import type { CommandLine } from './command-lines/command-line';
import { type CommandLineFeature, proveCommandLine } from './command-lines/prove-command-line';
import {
  type ConnectedEmbedder,
  EMBEDDING_PROOFS,
  type EmbeddingDriver,
  type EmbeddingFamily,
  type EmbeddingFeature,
  LOCAL_EMBEDDINGS,
} from './embeddings';
import { type Fact, findFact, NOT_OFFERED, NOTES, type Note } from './facts';
import { type Feature, PROOFS, proveRefusal, type Trial } from './features';

export const CLIENTS: readonly ClientDriver[] = [
  openaiChatClient,
  openaiResponsesClient,
  anthropicClient,
  googleGenaiClient,
  ...aiSdkClients,
  ...langchainClients,
  ...pythonClients,
];

export interface Family {
  readonly name: string;
  /** The model it is tried with. */
  readonly model: string;
}

const LOCAL_MODEL = 'qwen2.5:14b';

export const FAMILIES: readonly Family[] = [
  { name: 'GPT', model: 'gpt-5-mini' },
  { name: 'Claude', model: 'claude-haiku-4-5' },
  { name: 'Gemini', model: 'gemini-2.5-flash' },
  { name: 'Local (Ollama)', model: LOCAL_MODEL },
  { name: 'Claude on Bedrock', model: 'us.anthropic.claude-haiku-4-5-20251001-v1:0' },
  { name: 'Nova on Bedrock', model: 'amazon.nova-2-lite-v1:0' },
  { name: 'Nova 1 on Bedrock', model: 'amazon.nova-lite-v1:0' },
  { name: 'Cohere', model: 'command-a-plus-05-2026' },
];

/** Those that a command line can ask. */
export const familiesOf = (program: CommandLine): readonly Family[] =>
  FAMILIES.filter(({ name }) => program.families.includes(name));

/** What a cell of the matrix is to be. */
export type Cell =
  | { readonly kind: 'offered'; readonly note?: Note }
  /** Refused by name. */
  | { readonly kind: 'not offered'; readonly fact: Fact }
  /** The client speaks to other models only, or has no such feature. */
  | { readonly kind: 'not applicable' };

const AGENT_FEATURES: ReadonlySet<Feature> = new Set(['agent loop', 'object loop']);

/** Decided by facts alone, never by what comes of trying. */
export function cellOf(driver: ClientDriver, family: Family, feature: Feature): Cell {
  const reaches = driver.families === undefined || driver.families.includes(family.name);
  if (!reaches || (AGENT_FEATURES.has(feature) && driver.runsAgents !== true)) return { kind: 'not applicable' };
  const cell = { client: driver.name, family: family.name, feature };
  const fact = findFact(NOT_OFFERED, cell);
  return fact === undefined ? { kind: 'offered', note: findFact(NOTES, cell) } : { kind: 'not offered', fact };
}

/** A gateway in front of a fake of every vendor. */
export async function openMatrix(): Promise<Matrix> {
  const world = await shareEnvironment({
    kind: 'embedded',
    localModels: [LOCAL_MODEL, LOCAL_EMBEDDINGS],
    env: ({ url, baseUrl }) => ({
      // The model in this repository is loaded by its first request.
      REQUEST_TIMEOUT: '30s',
      ...{ COHERE_API_KEY: 'cohere-fake-key', COHERE_BASE_URL: url },
      ...{ VOYAGE_API_KEY: 'voyage-fake-key', VOYAGE_BASE_URL: baseUrl },
    }),
  });
  const { apiKey } = await createTestKey(world.gateway, { project: { cache_enabled: false } });
  return new Matrix(world, apiKey);
}

export class Matrix {
  private readonly clients = new Map<ClientDriver, ConnectedClient>();
  private readonly embedders = new Map<EmbeddingDriver, ConnectedEmbedder>();

  constructor(
    readonly world: TestEnvironment,
    readonly apiKey: string,
  ) {}

  /** Proves one cell; throws where it is not what `cellOf` says. */
  async prove(driver: ClientDriver, family: Family, feature: Feature): Promise<void> {
    const { upstream, gateway } = this.world;
    const cell = cellOf(driver, family, feature);
    if (cell.kind === 'not applicable') return;
    upstream.control.reset();
    const client = this.clients.get(driver) ?? driver.connect({ url: gateway.url, apiKey: this.apiKey });
    this.clients.set(driver, client);
    const trial: Trial = { driver, client, model: family.model, upstream, surplusTokens: 0 };
    if (cell.kind === 'not offered') return await proveRefusal(trial, feature);
    await PROOFS[feature]({ ...trial, surplusTokens: cell.note?.surplusTokens ?? 0 });
    if (upstream.control.counters.received === 0) throw new Error('no provider was asked');
  }

  /** Proves one cell of the command lines' matrix. */
  proveCommandLine(program: CommandLine, family: Family, feature: CommandLineFeature): Promise<void> {
    const { upstream, gateway } = this.world;
    upstream.control.reset();
    const access = { url: gateway.url, apiKey: this.apiKey };
    return proveCommandLine({ program, family, access, upstream }, feature);
  }

  /** Proves one cell of the embeddings' matrix. */
  async proveEmbeddings(driver: EmbeddingDriver, family: EmbeddingFamily, feature: EmbeddingFeature): Promise<void> {
    const { upstream, gateway } = this.world;
    upstream.control.reset();
    const embedder = this.embedders.get(driver) ?? driver.connect({ url: gateway.url, apiKey: this.apiKey });
    this.embedders.set(driver, embedder);
    await EMBEDDING_PROOFS[feature]({ embedder, family, upstream });
  }

  async close(): Promise<void> {
    for (const client of [...this.clients.values(), ...this.embedders.values()]) await client.close?.();
    await this.world.close();
  }
}
