import { type BuiltInJob, embedBuiltIn, type TextEmbedder, unsupportedHere } from '../embedding/built-in-embeddings';
import { type RankedDocument, type RerankRequest, rankDocuments } from './rerank';

/** Ranks by the cosine of vectors of the built-in model, from 0 to 1; throws for texts that it can't take. */
export async function rerankBuiltIn(
  embedder: TextEmbedder,
  request: RerankRequest,
  limits: Pick<BuiltInJob, 'timeoutMs' | 'signal'>,
): Promise<{ readonly results: RankedDocument[]; readonly inputTokens: number }> {
  const { query, documents, topN, maxTokensPerDocument, extra, model } = request;
  if (maxTokensPerDocument !== undefined) throw unsupportedHere('max_tokens_per_doc', 'is not understood by');
  const inputs = [query, ...documents];
  const placeOf = (index: number) => (index === 0 ? 'query' : `documents.${index - 1}`);
  const job = { ...limits, request: { model, inputs, extra }, placeOf };
  const { vectors, inputTokens } = await embedBuiltIn(embedder, job);
  const [first = new Float32Array(), ...others] = vectors;
  return {
    results: rankDocuments(
      others.map((one) => cosine(first, one)),
      topN,
    ),
    inputTokens,
  };
}

function cosine(a: Float32Array, b: Float32Array): number {
  let [product, lengthA, lengthB] = [0, 0, 0];
  for (const [index, value] of a.entries()) {
    const other = b[index] ?? 0;
    product += value * other;
    lengthA += value * value;
    lengthB += other * other;
  }
  const length = Math.sqrt(lengthA * lengthB);
  return length === 0 ? 0 : Math.min(1, Math.max(0, product / length));
}
