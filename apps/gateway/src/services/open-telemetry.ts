import { isListed } from '@llm0/core/routing/routing-tables';
import type { Database } from '@llm0/drizzle/client';
import { listLogBodies } from '@llm0/drizzle/queries/logs/log-bodies';
import type { Logger } from 'pino';
import type { Config } from '../config/config';
import type { Metrics } from '../observe/metrics';
import { noTelemetry, type Telemetry } from '../observe/telemetry/telemetry';
import type { Clock } from './contract';
import type { Routing } from './create-routing';

export interface TelemetryParts {
  readonly config: Pick<Config, 'telemetry'>;
  readonly log: Logger;
  readonly version: string;
  readonly metrics: Metrics;
  readonly database: Database;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly routing: Routing;
}

/** Loads the telemetry libraries only with a collector. */
export async function openTelemetry({
  config,
  database,
  clock,
  routing,
  ...parts
}: TelemetryParts): Promise<Telemetry> {
  const { telemetry: settings } = config;
  if (settings === undefined) return noTelemetry;
  const { createTelemetry } = await import('../observe/telemetry/create-telemetry');
  return createTelemetry({
    ...{ ...parts, settings },
    isKnown: (provider, model) => isListed(routing.tables.current(), provider, model),
    nowMs: () => clock.nowMs(),
    loadBodies: (requestIds) => listLogBodies(database.db, requestIds),
  });
}
