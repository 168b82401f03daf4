import type { Project } from '@llm0/core/keys/api-key';
import { firstChoice, type Route } from '@llm0/core/routing/resolve-targets';
import { isSameTarget, type Target } from '@llm0/core/routing/target';
import type { Services } from '../../services/contract';
import type { RequestContext } from '../request/open-context';

/** Fallback answers expire early, when the first choice is likely back. */
const FALLBACK_TTL_SECONDS = 60;

export interface CacheTtlInput {
  readonly ctx: RequestContext;
  readonly project: Project;
  readonly route: Route;
  readonly answered: Target;
}

/** Cache lifetime: the caller's, else the project's, else the gateway's. */
export function cacheTtlMs(services: Pick<Services, 'config'>, input: CacheTtlInput): number {
  const { ctx, project, route, answered } = input;
  const ttlSeconds = ctx.controls.cacheTtlSeconds ?? project.cacheTtlSeconds ?? services.config.cacheTtlSeconds;
  return 1000 * (isSameTarget(answered, firstChoice(route)) ? ttlSeconds : Math.min(ttlSeconds, FALLBACK_TTL_SECONDS));
}
