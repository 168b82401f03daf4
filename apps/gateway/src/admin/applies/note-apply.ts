import { invalidRequest } from '@llm0/core/errors/gateway-error';
import type { MiddlewareHandler } from 'hono';
import type { AdminEnv } from '../admin-services';
import { id } from '../fields/fields';

const DIGEST = /^[0-9a-f]{1,64}:[0-9a-f]{64}$/;

/** Hands the apply of a change to the transaction that makes it. */
export const noteApply: MiddlewareHandler<AdminEnv> = async (c, next) => {
  const leaseId = c.req.header('x-llm0-apply');
  const actor = c.get('actor');
  if (leaseId !== undefined && actor !== undefined) {
    if (!id.safeParse(leaseId).success) throw invalidRequest('X-LLM0-Apply', 'X-LLM0-Apply: must be a UUID.');
    const secretDigest = c.req.header('x-llm0-secret-digest');
    if (secretDigest !== undefined && !DIGEST.test(secretDigest)) {
      throw invalidRequest('X-LLM0-Secret-Digest', 'X-LLM0-Secret-Digest: must be a salt and a SHA-256, both in hex.');
    }
    c.set('actor', { ...actor, apply: { leaseId, secretDigest } });
  }
  await next();
};
