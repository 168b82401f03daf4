// Without embedder or Postgres, a miss after at most 150 ms; the request continues upstream.
import { encodeCachedAnswer, mayCache } from '@llm0/core/cache/cached-answer';
import { readEligibleQuestion } from '@llm0/core/cache/semantic/eligible-question';
import type {
  SemanticAnswer,
  SemanticHit,
  SemanticLookUp,
  SemanticQuestion,
} from '@llm0/core/cache/semantic/semantic-cache';
import { mayAnswer } from '@llm0/core/routing/named-targets';
import type { Services } from '../../services/contract';
import type { Admission } from '../request/admit';
import type { RequestContext } from '../request/open-context';

/** A question that another wording may have asked before, or may ask again. */
export interface SimilarQuestion extends SemanticQuestion {
  /** False if the caller bypasses the cache: the answer is only stored. */
  readonly isAsked: boolean;
}

/** Question for the semantic cache; undefined if caller or request exclude it. */
export function similarQuestion(
  services: Pick<Services, 'metrics'>,
  ctx: RequestContext,
  { principal, plan }: Admission,
): SimilarQuestion | undefined {
  const { project } = principal;
  if (plan.request.countOnly === true) return undefined;
  if (plan.cacheKey === undefined) return undefined;
  const question = readEligibleQuestion(plan.cacheScope, plan.request);
  if (typeof question === 'string') {
    services.metrics.semanticSkips.inc({ reason: question });
    return undefined;
  }
  const { provider, model } = plan.route.targets[0];
  return {
    ...question,
    requestId: ctx.requestId,
    room: ctx.held,
    projectId: project.id,
    provider,
    model,
    cacheKey: plan.cacheKey,
    threshold: project.semanticThreshold,
    minThreshold: ctx.controls.cacheThreshold,
    shadow: project.semanticShadow,
    mayServe: (stored) => mayCache(stored.response, project) && mayAnswer(plan.route, stored),
    isAsked: plan.admit.cacheKey !== undefined,
  };
}

/** The answer to another wording, if there is one; the wording asked now is an exact hit from then on. */
export async function findSimilar(
  services: Pick<Services, 'semanticCache' | 'hotStore'>,
  question: SimilarQuestion,
): Promise<SemanticLookUp> {
  const lookUp = await services.semanticCache.find(question);
  if (lookUp.hit !== undefined) writeExactly(services, question, lookUp.hit);
  return lookUp;
}

/** Stores a complete answer for other wordings, in the background. */
export function keepForSimilar(
  services: Pick<Services, 'semanticCache'>,
  question: SimilarQuestion,
  lookUp: SemanticLookUp | undefined,
): (answer: SemanticAnswer) => void {
  return (answer) => services.semanticCache.keep(question, answer, lookUp);
}

function writeExactly(services: Pick<Services, 'hotStore'>, question: SimilarQuestion, hit: SemanticHit): void {
  services.hotStore.cacheWrite(question.projectId, {
    key: question.cacheKey,
    value: encodeCachedAnswer({ ...hit.stored, matchedBy: question.requestId }),
    ttlMs: hit.remainingMs,
    provider: hit.stored.provider,
    model: hit.stored.model,
  });
}
