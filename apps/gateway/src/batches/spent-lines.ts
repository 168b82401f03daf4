// A vendor has run these lines and bills them: neither key, limits nor models of now undo that. Guardrails judge the answer.
import { createHash } from 'node:crypto';
import type { KnownPrincipal } from '@llm0/core/keys/key-cache';
import { resolveTargets } from '@llm0/core/routing/resolve-targets';
import { SharedTargetHealth } from '@llm0/core/routing/shared-target-health';
import type { Target } from '@llm0/core/routing/target';
import { noOtherProcess } from '@llm0/core/routing/target-health-store';
import type { StoredBatch } from '@llm0/drizzle/queries/batches/batches';
import type { VendorResult } from '@llm0/providers/batches';
import type { Services } from '../services/contract';
import { SeenKeys } from '../services/seen-keys';

/** Services whose providers give this answer, to any key. */
export function withAnswer(services: Services, { status, body }: VendorResult): Services {
  const answer = async () => new Response(body, { status, headers: { 'content-type': 'application/json' } });
  return {
    ...services,
    keyCache: new SeenKeys(services.keyCache, withoutLimits),
    // An answer that is there says nothing about its provider now, nor the other way round.
    health: new SharedTargetHealth({ store: noOtherProcess, monotonicMs: () => services.clock.monotonicMs() }),
    connect: (target, projectId) => {
      const connected = services.connect(target, projectId);
      if (connected === undefined) return undefined;
      const { provider, connection } = connected;
      return { provider, connection, fetch: answer as unknown as typeof globalThis.fetch };
    },
  };
}

/** Owner, levels and labels of the bill stay. */
function withoutLimits({ key, project, guardrails, secretEndsMs: _end, ...rest }: KnownPrincipal): KnownPrincipal {
  const { modelsAbove: _models, modelsOfLevels: _ofLevels, providersAbove: _providers, ...own } = key;
  const ofAnswers = guardrails?.ofAnswers;
  return {
    ...rest,
    ...(ofAnswers && { guardrails: ofAnswers }),
    key: { ...own, isActive: true, expiresAtMs: null, allowedModels: null, allowedProviders: null },
    project: { ...project, isActive: true, strictCaps: false, unknownModelPolicy: 'allow_unpriced' },
  };
}

/** The body for the target that has answered: its name may stand for another one by now. */
export function asAnswered<B extends { readonly model?: unknown }>(
  { routing }: Pick<Services, 'routing'>,
  { projectId, forwarded }: Pick<StoredBatch, 'projectId' | 'forwarded'>,
  body: B,
): B {
  const { provider, model: only, models = {} } = forwarded ?? {};
  if (typeof body.model !== 'string') return body;
  const model = models[body.model] ?? only;
  if (provider === undefined || model === undefined) return body;
  const isSame = isStill({ routing }, { name: body.model, projectId }, { provider, model });
  return isSame ? body : { ...body, model: `${provider}/${model}` };
}

function isStill(
  { routing }: Pick<Services, 'routing'>,
  { name, projectId }: { readonly name: string; readonly projectId: string },
  { provider, model }: Target,
): boolean {
  try {
    const [first, second] = resolveTargets(name, routing(), projectId).targets;
    return second === undefined && first.provider === provider && first.model === model;
  } catch {
    return false;
  }
}

/** The same for each run of the line: what an interrupted one has settled isn't billed again. A UUIDv7 of the batch's time. */
export function idOfSpent({ id }: Pick<StoredBatch, 'id'>, line: number): string {
  const hash = createHash('sha256').update(`${id} ${line}`).digest('hex');
  return `${id.slice(0, 14)}7${hash.slice(0, 3)}-8${hash.slice(3, 6)}-${hash.slice(6, 18)}`;
}
