import { isObject, type JsonObject } from '@llm0/core/chat/json';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { codeModeOf } from '@llm0/core/keys/api-key';
import { ToolCallError } from '@llm0/core/mcp/tool-host';
import type { Services } from '../../services/contract';
import { guardCodeResult } from '../calls/guard-list';
import { recordScript } from '../calls/record-script';
import { createToolHost } from '../host/create-tool-host';
import { RpcFailure } from '../wire/json-rpc';
import { CallRefusal } from './mcp-errors';
import type { McpRequest } from './mcp-request';
import { type OwnAnswer, respondDiscovered, respondInitialized } from './own-methods';
import { respond } from './own-result';
import { type Progress, respondLater } from './respond-later';

/** The place of Code Mode: no server can have this alias. */
export const CODE_SCOPE = 'code';

const CAPABILITIES = { tools: {} };
const LIST_TTL_MS = 3_600_000;

const listTools: OwnAnswer = async (services, mcpRequest) => {
  checkAllowed(mcpRequest);
  const tools = toolsFor(services, mcpRequest).list();
  return respond(services, mcpRequest, { tools: tools.map(asJson), ttlMs: LIST_TTL_MS });
};

const callTool: OwnAnswer = async (services, mcpRequest) => {
  checkAllowed(mcpRequest);
  const { name, arguments: args } = mcpRequest.request.params;
  if (typeof name !== 'string') {
    throw new CallRefusal('invalid_request', '"name" must be the name of a tool.', { code: -32602, param: 'name' });
  }
  return respondLater(services, mcpRequest, (progress) => run(services, mcpRequest, { name, args, progress }));
};

/** Answers of `/mcp/code` in both protocol revisions. */
export const CODE_METHODS: Readonly<Record<'modern' | 'legacy', Readonly<Record<string, OwnAnswer>>>> = {
  modern: {
    'server/discover': async (services, mcpRequest) => respondDiscovered(services, mcpRequest, CAPABILITIES),
    'tools/list': listTools,
    'tools/call': callTool,
  },
  legacy: {
    initialize: async (services, mcpRequest) => respondInitialized(services, mcpRequest, CAPABILITIES),
    ping: async (services, mcpRequest) => respond(services, mcpRequest, {}),
    'tools/list': listTools,
    'tools/call': callTool,
  },
};

const toolsFor = (services: Services, mcpRequest: McpRequest) =>
  services.codeMode.toolsFor(createToolHost(services, mcpRequest), mcpRequest.principal.key.id);

interface Running {
  readonly name: string;
  readonly args: unknown;
  readonly progress: Progress;
}

async function run(services: Services, mcpRequest: McpRequest, { name, args, progress }: Running): Promise<JsonObject> {
  const { signal, runId } = mcpRequest;
  const call = { signal, runId, progress };
  try {
    const given = await toolsFor(services, mcpRequest).call(name, args ?? {}, call);
    const isScript = name === 'execute_code';
    const judged = await guardCodeResult(services, mcpRequest, { result: given, isScript });
    if (isScript) await recordScript(services, mcpRequest, judged);
    if (judged.refusal !== undefined) throw judged.refusal;
    return asJson(judged.result);
  } catch (cause) {
    if (cause instanceof ToolCallError) throw new RpcFailure(cause.code, cause.message);
    throw cause;
  }
}

/** Throws unless the key may. */
function checkAllowed({ principal }: McpRequest): void {
  if (codeModeOf(principal)) return;
  const message = 'Code Mode is off for this key. Its operator turns it on with "code_mode" of the key or its project.';
  throw new GatewayError('permission_denied', message);
}

function asJson(value: object): JsonObject {
  const plain: unknown = value;
  return isObject(plain as JsonObject) ? (plain as JsonObject) : {};
}
