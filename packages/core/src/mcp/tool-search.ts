// The embedder is off, late or broken: tools are found by words alone.
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import MiniSearch from 'minisearch';
import type { TextEmbedder } from '../embedding/built-in-embeddings';
import type { HostedTool } from './tool-host';
import { ToolVectors } from './tool-vectors';

export interface ToolSearchOptions {
  readonly embedder: TextEmbedder;
  /** Wait of a search for missing vectors, in milliseconds. */
  readonly waitMs?: number;
}

export interface ToolQuery {
  readonly query: string;
  readonly limit: number;
}

const WAIT_MS = 1500;
/** Maximum of indexed tool lists. */
const MOST_INDEXES = 32;
const INDEXED_AT_ONCE = 50;
/** Length of an embedded description. Its beginning states the purpose, and short texts embed faster. */
const EMBEDDED_CHARACTERS = 300;
const INDEXED_CHARACTERS = 2000;
const MOST_PARAMETERS = 100;
/** Reciprocal rank fusion (Cormack, Clarke and Büttcher 2009): their constant. */
const RANK_CONSTANT = 60;
/** Below it, similarity means nothing. */
const LEAST_SIMILARITY = 0.2;

interface Document {
  readonly id: number;
  readonly name: string;
  readonly server: string;
  readonly description: string;
  readonly parameters: string;
}

/** Finds tools for a task, by meaning and by words. */
export class ToolSearch {
  private readonly vectors: ToolVectors;
  private readonly indexes = new LRUCache<string, MiniSearch<Document>>({ max: MOST_INDEXES });

  constructor(private readonly options: ToolSearchOptions) {
    this.vectors = new ToolVectors(options);
  }

  /** Best first; empty without a match. Never throws. */
  async find(tools: readonly HostedTool[], { query, limit }: ToolQuery): Promise<readonly HostedTool[]> {
    const [words, meaning] = await Promise.all([this.rankByWords(tools, query), this.rankByMeaning(tools, query)]);
    const scores = new Map<number, number>();
    for (const ranking of [words, meaning]) {
      for (const [rank, index] of ranking.entries()) {
        scores.set(index, (scores.get(index) ?? 0) + 1 / (RANK_CONSTANT + rank));
      }
    }
    const best = [...scores].sort(([a, scoreA], [b, scoreB]) => scoreB - scoreA || a - b).slice(0, limit);
    return best.flatMap(([index]) => tools[index] ?? []);
  }

  private async rankByWords(tools: readonly HostedTool[], query: string): Promise<readonly number[]> {
    const index = await this.indexOf(tools);
    const found = index.search(query, { boost: { name: 3, server: 2 }, prefix: (term) => term.length > 3 });
    return found.map(({ id }) => id as number);
  }

  private async indexOf(tools: readonly HostedTool[]): Promise<MiniSearch<Document>> {
    const documents = tools.map(toDocument);
    const key = createHash('sha256').update(JSON.stringify(documents)).digest('base64');
    const known = this.indexes.get(key);
    if (known !== undefined) return known;
    const index = new MiniSearch<Document>({
      fields: ['name', 'server', 'description', 'parameters'],
      tokenize: splitWords,
      processTerm: stemWord,
    });
    await index.addAllAsync(documents, { chunkSize: INDEXED_AT_ONCE });
    this.indexes.set(key, index);
    return index;
  }

  private async rankByMeaning(tools: readonly HostedTool[], query: string): Promise<readonly number[]> {
    const texts = [query, ...tools.map(describeTool)];
    const [asked, ...vectors] = await this.vectors.get(texts, this.options.waitMs ?? WAIT_MS);
    // With some of the vectors only, those that have one would pass all others.
    if (asked === undefined || vectors.includes(undefined)) return [];
    const near = vectors.map((vector, index) => ({ index, similarity: dotOf(asked, vector) }));
    return near
      .filter(({ similarity }) => similarity >= LEAST_SIMILARITY)
      .sort((a, b) => b.similarity - a.similarity)
      .map(({ index }) => index);
  }
}

function toDocument({ server, name, description, inputSchema }: HostedTool, id: number): Document {
  const { properties } = inputSchema;
  const names = typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
  const parameters = names.slice(0, MOST_PARAMETERS).join(' ').slice(0, INDEXED_CHARACTERS);
  return { id, name, server, description: description.slice(0, INDEXED_CHARACTERS), parameters };
}

const describeTool = ({ server, name, description }: HostedTool) =>
  `${splitWords(`${server} ${name}`).join(' ')}: ${description.slice(0, EMBEDDED_CHARACTERS)}`.toWellFormed();

/** `createIssue`, `create_issue` and `create-issue` are the same words. */
function splitWords(text: string): string[] {
  return text
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '' && word.length <= 40);
}

/** English plurals and their singular are one word. */
function stemWord(word: string): string {
  const lower = word.toLowerCase();
  if (lower.length > 4 && lower.endsWith('ies')) return `${lower.slice(0, -3)}y`;
  return lower.length > 3 && lower.endsWith('s') && !lower.endsWith('ss') ? lower.slice(0, -1) : lower;
}

function dotOf(a: Float32Array, b: Float32Array | undefined): number {
  let sum = 0;
  if (b !== undefined) for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}
