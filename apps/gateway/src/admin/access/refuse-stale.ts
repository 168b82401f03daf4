import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { Actor, AdminServices } from '../admin-services';
import { AFTER_SIGN_IN } from './route-table';

export type StaleNeeds = Pick<AdminServices, 'config' | 'clock'>;

/** Throws `sign_in_again` where a person's sign-in is too old for the route. Tokens have no sign-in. */
export function refuseStale({ config, clock }: StaleNeeds, route: string, { user, session }: Actor): void {
  const { reauthAfterMs } = config.signOn;
  if (reauthAfterMs === null || user === undefined || session === undefined || !AFTER_SIGN_IN.has(route)) return;
  const { authenticatedAtMs } = session;
  if (authenticatedAtMs !== null && clock.nowMs() - authenticatedAtMs <= reauthAfterMs) return;
  const message = 'This change needs a recent sign-in. Sign in again, then repeat it.';
  throw new GatewayError('sign_in_again', message);
}
