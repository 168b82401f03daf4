import { GatewayError } from '@llm0/core/errors/gateway-error';
import { encodeFor } from '../anthropic/encode-request';
import { anthropic } from '../anthropic/index';
import { gemini } from '../gemini/index';
import type { Provider } from '../provider';
import type { EncodeContext } from '../provider-request';
import { PROVIDER, publisherEndpoint } from './endpoint';

/** The version that stands in bodies instead of a header. */
const CLAUDE_VERSION = 'vertex-2023-10-16';
const CLAUDE = /^claude-/;

/** Errors under this provider's name. */
const decodeErrorOf =
  ({ name, decodeError }: Provider): Provider['decodeError'] =>
  (status, headers, body) => {
    const error = decodeError(status, headers, body);
    const message = error.message.startsWith(`${name} `) ? PROVIDER + error.message.slice(name.length) : error.message;
    return new GatewayError(error.kind, message, { ...error });
  };

const shared = {
  name: PROVIDER,
  // Every project has an address of its own.
  defaultBaseUrl: '',
  modelPatterns: [],
  embeddings: undefined,
  tasks: undefined,
  passthrough: undefined,
  batches: undefined,
  probeUrl: undefined,
} satisfies Partial<Provider>;

/** Source: https://platform.claude.com/docs/en/build-with-claude/claude-on-vertex-ai */
const claude: Provider = {
  ...anthropic,
  ...shared,
  decodeError: decodeErrorOf(anthropic),
  encodeRequest: (request, context) =>
    encodeFor(request, context, ({ connection, body, betas, isCount, stream }) => {
      const model = isCount ? 'count-tokens' : context.model;
      if (!isCount) delete body.model;
      body.anthropic_version = CLAUDE_VERSION;
      const method = stream ? 'streamRawPredict' : 'rawPredict';
      const endpoint = publisherEndpoint({ connection, publisher: 'anthropic', model, method });
      if (betas.length === 0) return endpoint;
      return { ...endpoint, headers: { 'anthropic-beta': betas.join(','), ...endpoint.headers } };
    }),
};

/** Gemini and Claude in a project of Google Cloud. Source: https://docs.cloud.google.com/vertex-ai/generative-ai/docs */
export const vertex: Provider = {
  ...gemini,
  ...shared,
  decodeError: decodeErrorOf(gemini),
  encodeRequest: (request, context) => {
    const { connection, model } = context;
    const method = request.stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
    const { body, dropped } = gemini.encodeRequest(request, withoutKey(context));
    return { ...publisherEndpoint({ connection, publisher: 'google', model, method }), body, dropped };
  },
  forModel: (model) => (CLAUDE.test(model) ? claude : undefined),
};

function withoutKey({ connection: { apiKey: _key, ...connection }, ...context }: EncodeContext): EncodeContext {
  return { ...context, connection };
}
