import { totalmem } from 'node:os';

/** Names that would let a test reach an operator's stores, accounts or files. */
const OPERATORS_NAMES =
  /^(DATABASE_URL|REDIS_.*|DATA_DIR|ADMIN_TOKEN|ADMIN_PORT|ADMIN_HOST|METRICS_TOKEN|EGRESS_ALLOW|MEDIA_EGRESS_ALLOW|ENCRYPTION_KEY.*|PORT|HOST|ENVIRONMENT|LOG_LEVEL|TLS_.*|GATEWAY_WORKERS|GATEWAY_CONFIG|DEMO_PROVIDER|FAILOVER_MODE|DISABLE_BACKGROUND_WORKERS|LOG_.*|CACHE_.*|MAX_.*|EMBEDDING_.*|(?:REQUEST|ANSWER|STREAM_IDLE|SLOW_READER)_TIMEOUT|DRAIN_TIMEOUT|GLOBAL_.*|CLIENT_.*|TRUST_PROXY_HOPS|OTEL_.*|LLM0_.*|AWS_.*|AZURE_.*|BEDROCK_.*|OLLAMA_.*|.*_API_KEY|.*_BASE_URL)$/;

/**
 * Nothing is compiled a third time, with all optimizations, garbage waits longer, and free memory is kept: a process of a
 * test is gone before the operators' switches pay (a third of the time of an embedded Postgres, half of a gateway's).
 */
const SHORT_LIVED = {
  BUN_JSC_useOMGJIT: '0',
  BUN_JSC_useFTLJIT: '0',
  // Most tests wait for the row of what they asked.
  LLM0_TEST_LINGER_MS: '20',
  BUN_JSC_forceRAMSize: String(4 * 1024 ** 3),
  // A run holds up to 11 GB then.
  MIMALLOC_PURGE_DELAY: totalmem() < 16 * 1024 ** 3 ? '10000' : '-1',
};

/** Measuring tests run gateways as operators do. */
export const MEASURED = {
  BUN_JSC_useFTLJIT: '1',
  LLM0_TEST_LINGER_MS: undefined,
  BUN_JSC_forceRAMSize: undefined,
  MIMALLOC_PURGE_DELAY: undefined,
};

type Environment = Record<string, string | undefined>;

/** Names that a `.env` file gives, whatever their values. */
export function namesInEnvFile(text: string): readonly string[] {
  return [...text.matchAll(/^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=/gm)].flatMap((match) => match[1] ?? []);
}

/**
 * The environment tests run in: the operator's settings are set to '' (unset, but stronger than a `.env` file, which
 * Bun reads in every process started in the repository), `given` is added.
 */
export function testEnvironment(env: Environment, envFileNames: readonly string[], given: Environment): Environment {
  const result: Environment = { ...env };
  for (const name of [...Object.keys(env), ...envFileNames]) {
    if (OPERATORS_NAMES.test(name)) result[name] = '';
  }
  return { ...result, NODE_ENV: 'test', BUN_CONFIG_MAX_HTTP_REQUESTS: '20000', ...SHORT_LIVED, ...given };
}
