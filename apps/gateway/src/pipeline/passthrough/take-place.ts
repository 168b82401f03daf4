import type { Held } from '@llm0/core/async/room';
import { atLimit } from '@llm0/core/errors/unasked-provider';
import type { ProviderConnection } from '@llm0/providers/provider-request';
import type { ConnectedProvider, Services } from '../../services/contract';
import type { NativeJob } from './plan-passthrough';

interface PlaceWanted {
  readonly held: Held;
  readonly connected: ConnectedProvider;
  readonly connection: ProviderConnection;
  readonly job: Pick<NativeJob, 'namedModel'>;
}

/** Takes a place, where the provider has limited ones: with the given key or another. Throws `upstream_rate_limited`. */
export function takePlace(
  { metrics }: Pick<Services, 'metrics'>,
  { held, connected, connection, job: { namedModel = '' } }: PlaceWanted,
): ProviderConnection {
  const slots = connected.takeSlots?.();
  if (slots === undefined) return connection;
  const provider = connected.provider.name;
  if (slots === 'full') {
    metrics.fullProviders.inc({ provider });
    throw atLimit({ provider, model: namedModel });
  }
  held.place = { provider, slots };
  return connected.keys?.next(new Set(), slots) ?? connection;
}
