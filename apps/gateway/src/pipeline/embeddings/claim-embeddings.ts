import type { CachedEmbedding } from '@llm0/core/cache/cached-embedding';
import type { JsonObject } from '@llm0/core/chat/json';
import type { Services } from '../../services/contract';
import type { AdmitInput } from '../request/admit';
import { type Claimed, claimOrReplay } from '../request/idempotency';
import type { EmbeddingAdmission } from './collect-embeddings';
import { type EmbeddingJob, planEmbeddings } from './plan-embeddings';

type Needs = Pick<Services, 'idempotentEmbeddings' | 'keyCache' | 'clock' | 'storeClock' | 'routing' | 'connect'>;

/** Claim of a request with an `Idempotency-Key`. In a replay, all inputs are known. */
export function claimEmbeddings(
  services: Needs,
  input: AdmitInput<EmbeddingJob>,
  { httpRequest, body }: { readonly httpRequest: Request; readonly body: JsonObject },
): Promise<Claimed<readonly CachedEmbedding[], EmbeddingAdmission>> {
  return claimOrReplay(services, {
    ...{ answers: services.idempotentEmbeddings, input, httpRequest, identity: identityOf(input, body) },
    planReplay: (entries, principal) => ({
      plan: planEmbeddings(services, {
        ...{ ...input, principal },
        request: { ...input.request, known: new Map(entries.entries()) },
      }),
    }),
  });
}

/** A large body is identified by its digest, computed in slices. */
function identityOf({ dialect, request: { request } }: AdmitInput<EmbeddingJob>, body: JsonObject): unknown {
  const { digest, model, dimensions, user } = request;
  return [dialect, digest === undefined ? body : { model, dimensions, user, digest, format: body.encoding_format }];
}
