import { decodeTokenInputs } from '@llm0/core/embedding/decode-tokens';
import type { Services } from '../../services/contract';
import type { AdmitInput } from '../request/admit';
import { isBuiltIn } from '../upstream/built-in-route';
import { type EmbeddingJob, planEmbeddings } from './plan-embeddings';

/** Replaces tokens with their text for a model without token input, so that holds are right. */
export async function withText(
  services: Pick<Services, 'routing' | 'connect'>,
  input: AdmitInput<EmbeddingJob>,
): Promise<AdmitInput<EmbeddingJob>> {
  const { request: job, principal } = input;
  if (job.request.inputs.every((one) => typeof one === 'string')) return input;
  const { targets } = planEmbeddings(services, input).route;
  const takesTokens = targets.every(
    (target) =>
      !isBuiltIn(target) && services.connect(target, principal.project.id)?.provider.embeddings?.takesTokens === true,
  );
  if (takesTokens) return input;
  const inputs = await decodeTokenInputs(job.request.inputs);
  return { ...input, request: { ...job, request: { ...job.request, inputs } } };
}
