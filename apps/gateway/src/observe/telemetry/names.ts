/**
 * Every name that goes out and is not ours, in one place: the conventions for GenAI and MCP still move. `names.test.ts` holds
 * them to the published registry. Source: https://opentelemetry.io/docs/specs/semconv/gen-ai/
 */
export const ATTR = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  requestModel: 'gen_ai.request.model',
  requestStream: 'gen_ai.request.stream',
  maxTokens: 'gen_ai.request.max_tokens',
  temperature: 'gen_ai.request.temperature',
  topP: 'gen_ai.request.top_p',
  topK: 'gen_ai.request.top_k',
  frequencyPenalty: 'gen_ai.request.frequency_penalty',
  presencePenalty: 'gen_ai.request.presence_penalty',
  seed: 'gen_ai.request.seed',
  choiceCount: 'gen_ai.request.choice.count',
  responseId: 'gen_ai.response.id',
  responseModel: 'gen_ai.response.model',
  finishReasons: 'gen_ai.response.finish_reasons',
  timeToFirstChunk: 'gen_ai.response.time_to_first_chunk',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cacheReadTokens: 'gen_ai.usage.cache_read.input_tokens',
  cacheWriteTokens: 'gen_ai.usage.cache_creation.input_tokens',
  reasoningTokens: 'gen_ai.usage.reasoning.output_tokens',
  tokenType: 'gen_ai.token.type',
  inputMessages: 'gen_ai.input.messages',
  outputMessages: 'gen_ai.output.messages',
  toolName: 'gen_ai.tool.name',
  toolArguments: 'gen_ai.tool.call.arguments',
  toolResult: 'gen_ai.tool.call.result',
  mcpMethod: 'mcp.method.name',
  rpcStatus: 'rpc.response.status_code',
  errorType: 'error.type',
  httpMethod: 'http.request.method',
  httpRoute: 'http.route',
  httpStatus: 'http.response.status_code',
  urlPath: 'url.path',
  urlScheme: 'url.scheme',
  serverAddress: 'server.address',
  serverPort: 'server.port',
  userId: 'user.id',
  sessionId: 'session.id',
} as const;

/** Names up to version 1.36, sent beside newer ones unless only the latest are wanted. */
export const BEFORE = {
  provider: 'gen_ai.system',
} as const satisfies Partial<Record<keyof typeof ATTR, string>>;

/** What Langfuse reads beside the conventions. Source: https://langfuse.com/integrations/native/opentelemetry */
export const LANGFUSE = {
  type: 'langfuse.observation.type',
  costDetails: 'langfuse.observation.cost_details',
  completionStart: 'langfuse.observation.completion_start_time',
} as const;

export const METRIC = {
  operationDuration: 'gen_ai.client.operation.duration',
  tokenUsage: 'gen_ai.client.token.usage',
  timeToFirstChunk: 'gen_ai.client.operation.time_to_first_chunk',
  toolDuration: 'mcp.client.operation.duration',
} as const;

/** Our own namespace, for attributes without a convention. */
export const OWN = {
  requestId: 'llm0.request.id',
  clientRequestId: 'llm0.request.client_id',
  projectId: 'llm0.project.id',
  apiKeyId: 'llm0.api_key.id',
  customerId: 'llm0.customer.id',
  runId: 'llm0.run.id',
  label: 'llm0.label.',
  dialect: 'llm0.dialect',
  requestedModel: 'llm0.requested_model',
  model: 'llm0.model',
  provider: 'llm0.provider',
  stream: 'llm0.stream',
  status: 'llm0.status',
  cache: 'llm0.cache',
  cacheSimilarity: 'llm0.cache_similarity',
  cacheMatchedBy: 'llm0.cache_matched_by',
  costUsd: 'llm0.cost_usd',
  costPart: 'llm0.cost_detail_usd.',
  costEstimated: 'llm0.cost_estimated',
  priceSource: 'llm0.price_source',
  savedUsd: 'llm0.saved_usd',
  holdUsd: 'llm0.hold_usd',
  inputTokens: 'llm0.tokens_in',
  outputTokens: 'llm0.tokens_out',
  overheadMs: 'llm0.overhead_ms',
  upstreamMs: 'llm0.upstream_ms',
  ttftMs: 'llm0.ttft_ms',
  failoverCount: 'llm0.failover.count',
  droppedParams: 'llm0.dropped_params',
  refusedCount: 'llm0.refused_count',
  guardrailRules: 'llm0.guardrail.rules',
  guardrailActions: 'llm0.guardrail.actions',
  guardrailRule: 'llm0.guardrail.rule',
  guardrailAction: 'llm0.guardrail.action',
  guardrailCheck: 'llm0.guardrail.check',
  guardrailPart: 'llm0.guardrail.part',
  guardrailCount: 'llm0.guardrail.count',
  guardrailShadow: 'llm0.guardrail.shadow',
  attemptNumber: 'llm0.attempt.number',
  attemptOutcome: 'llm0.attempt.outcome',
  errorMessage: 'llm0.error.message',
  toolServer: 'llm0.mcp.server',
  bytesIn: 'llm0.bytes_in',
  bytesOut: 'llm0.bytes_out',
} as const;

const FRACTIONS: ReadonlySet<string> = new Set<string>([
  ...[ATTR.temperature, ATTR.topP, ATTR.frequencyPenalty, ATTR.presencePenalty, ATTR.timeToFirstChunk],
  ...[OWN.cacheSimilarity, OWN.costUsd, OWN.savedUsd, OWN.holdUsd, OWN.overheadMs, OWN.upstreamMs, OWN.ttftMs],
]);

/** Always doubles on the wire, because collectors keep one type for a name. */
export const isFraction = (name: string): boolean => FRACTIONS.has(name) || name.startsWith(OWN.costPart);

/** A target that was not asked, as an event of the request's span. */
export const TARGET_SKIPPED = 'llm0.target.skipped';

/** Finding of a rule, as an event of the request's span. */
export const GUARDRAIL_FOUND = 'llm0.guardrail.found';

const MOST_MODEL = 256;

/** A model's name as spans have it: callers can make up any, as long and as strange as they like. */
export const modelName = (model: string): string =>
  Array.from(model.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ''))
    .slice(0, MOST_MODEL)
    .join('');

/** Providers' names by the conventions, if they differ. */
const PROVIDER_NAMES: Readonly<Record<string, string>> = {
  bedrock: 'aws.bedrock',
  gemini: 'gcp.gemini',
  vertex: 'gcp.vertex_ai',
  azure: 'azure.ai.openai',
  mistral: 'mistral_ai',
  xai: 'x_ai',
};

export const providerName = (provider: string): string =>
  Object.hasOwn(PROVIDER_NAMES, provider) ? (PROVIDER_NAMES[provider] ?? provider) : provider;
