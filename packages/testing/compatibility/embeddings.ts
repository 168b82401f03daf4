import { fakeVector } from '../fake-upstream/render-embeddings';
import type { FakeUpstream } from '../fake-upstream/start-fake-upstream';
import type { GatewayAccess } from './client-driver';

/** A client library that makes embeddings. */
export interface EmbeddingDriver {
  readonly name: string;
  readonly library: string;
  connect(gateway: GatewayAccess): ConnectedEmbedder;
}

export interface ConnectedEmbedder {
  /** One vector for each text, in their order. */
  embed(question: {
    readonly model: string;
    readonly texts: readonly string[];
    readonly dimensions?: number;
  }): Promise<number[][]>;
  statusOf(error: unknown): number | undefined;
  close?(): Promise<void>;
}

export interface EmbeddingFamily {
  readonly name: string;
  readonly model: string;
  /** Made by the gateway itself: no provider is asked. */
  readonly builtIn?: true;
}

/** Without a prefix the name would be looked for at the cloud providers. */
export const LOCAL_EMBEDDINGS = 'nomic-embed-text';

export const EMBEDDING_FAMILIES: readonly EmbeddingFamily[] = [
  { name: 'OpenAI', model: 'text-embedding-3-small' },
  { name: 'Gemini', model: 'gemini-embedding-001' },
  { name: 'Local (Ollama)', model: `ollama/${LOCAL_EMBEDDINGS}` },
  { name: 'Titan on Bedrock', model: 'amazon.titan-embed-text-v2:0' },
  { name: 'Cohere on Bedrock', model: 'cohere.embed-v4:0' },
  { name: 'Cohere', model: 'embed-v4.0' },
  { name: 'Voyage', model: 'voyage-4' },
  { name: 'Built in (MiniLM)', model: 'local/all-MiniLM-L6-v2', builtIn: true },
];

export const EMBEDDING_FEATURES = ['one text', 'batch', 'dimensions', 'error'] as const;
export type EmbeddingFeature = (typeof EMBEDDING_FEATURES)[number];

interface EmbeddingTrial {
  readonly embedder: ConnectedEmbedder;
  readonly family: EmbeddingFamily;
  readonly upstream: FakeUpstream;
}

const BUILT_IN_DIMENSIONS = 384;
const OTHER_DIMENSIONS = 5;
const TEXTS = ['The left bank', 'Grüße 🌍', 'seven words that stand on the right'];

/** Whether the family makes vectors of the length that is asked for. */
export function offersDimensions(family: EmbeddingFamily): boolean {
  return family.builtIn !== true;
}

/** Each feature's proof; throws where it does not hold. */
export const EMBEDDING_PROOFS = {
  'one text': (trial) => proveVectors(trial, TEXTS.slice(0, 1)),
  batch: (trial) => proveVectors(trial, TEXTS),
  dimensions: async (trial) => {
    if (offersDimensions(trial.family)) return await proveVectors(trial, TEXTS.slice(1), OTHER_DIMENSIONS);
    // Its vectors have one length: another one is refused by name.
    await proveStatus(trial, 400, OTHER_DIMENSIONS);
  },
  error: async (trial) => {
    const { family, upstream } = trial;
    if (family.builtIn === true) return await proveStatus({ ...trial, family: UNKNOWN }, 404);
    upstream.control.setDefault({ status: 400 });
    await proveStatus(trial, 400);
  },
} as const satisfies Record<EmbeddingFeature, (trial: EmbeddingTrial) => Promise<void>>;

const UNKNOWN: EmbeddingFamily = { name: 'unknown', model: 'local/no-such-model' };

async function proveVectors(trial: EmbeddingTrial, texts: readonly string[], dimensions?: number): Promise<void> {
  const { embedder, family, upstream } = trial;
  const vectors = await embedder.embed({ model: family.model, texts, dimensions });
  if (vectors.length !== texts.length) throw new Error(`${vectors.length} vectors for ${texts.length} texts`);
  if (family.builtIn === true) return checkBuiltIn(vectors);
  const floats = vectors.map((vector) => vector.map(Math.fround));
  const wanted = texts.map((text) => fakeVector(text, dimensions));
  if (!Bun.deepEquals(floats, wanted)) throw new Error(`the vectors: got ${JSON.stringify(floats)}`);
  const sent = JSON.stringify(upstream.requests.map(({ body }) => body));
  for (const text of texts) if (!sent.includes(text)) throw new Error(`the provider was not sent "${text}"`);
}

/** Of length 1, and none like another. */
function checkBuiltIn(vectors: readonly (readonly number[])[]): void {
  for (const vector of vectors) {
    const length = Math.hypot(...vector);
    if (vector.length !== BUILT_IN_DIMENSIONS || Math.abs(length - 1) > 1e-3) {
      throw new Error(`a vector of ${vector.length} dimensions and length ${length}`);
    }
  }
  if (new Set(vectors.map(String)).size !== vectors.length) throw new Error('two texts have one vector');
}

async function proveStatus({ embedder, family }: EmbeddingTrial, status: number, dimensions?: number): Promise<void> {
  let failure: unknown;
  try {
    await embedder.embed({ model: family.model, texts: TEXTS.slice(0, 1), dimensions });
  } catch (error) {
    failure = error;
  }
  const got = embedder.statusOf(failure);
  if (got !== status) throw new Error(`the status of a refusal: got ${got}, not ${status}`);
}
