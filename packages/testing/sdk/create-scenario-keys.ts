import { createTestKey, type GatewayProcess } from '../stores/start-gateway';

/** One key for each way a request may end; as the Python scripts name them. */
export async function createScenarioKeys(gateway: GatewayProcess): Promise<Readonly<Record<string, string>>> {
  const keyFor = async (settings: Parameters<typeof createTestKey>[1]) =>
    (await createTestKey(gateway, settings)).apiKey;
  return {
    plain: await keyFor({ project: { cache_enabled: false } }),
    expired: await keyFor({ key: { expires_at: '2020-01-01T00:00:00Z' } }),
    limited: await keyFor({ key: { rate_limit_per_minute: 1 } }),
    poor: await keyFor({ project: { monthly_cap_usd: '0.000000001' } }),
    failing: await keyFor({}),
  };
}
