import type { JsonObject } from '@llm0/core/chat/json';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { TaskRequest } from '@llm0/core/tasks/task-request';
import { createProviderRegistry } from '@llm0/providers/registry';
import { Hono, type HonoRequest } from 'hono';
import { type BatchRequest, type BatchRoutes, handleBatches } from './batches/batch-request';
import { BATCH_ROUTES } from './batches/handle-batches';
import { MESSAGE_BATCH_ROUTES } from './batches/handle-message-batches';
import { createLineEndpoints } from './batches/line-endpoints';
import { anthropicCount, anthropicMessages } from './dialects/anthropic-messages/index';
import type { Dialect, ErrorEnvelope, TaskDialect } from './dialects/dialect';
import { NATIVE_ERRORS } from './dialects/native-errors';
import { openaiChat } from './dialects/openai-chat/index';
import { openaiCompletions } from './dialects/openai-completions/index';
import { openaiEmbeddings } from './dialects/openai-embeddings/index';
import { openaiResponses } from './dialects/openai-responses/index';
import { openaiSpeech, openaiTranscriptions, openaiTranslations } from './dialects/tasks/audio';
import { openaiDecisions } from './dialects/tasks/decisions';
import { openaiImageEdits, openaiImages } from './dialects/tasks/images';
import { openaiModerations } from './dialects/tasks/moderations';
import { cohereRerank } from './dialects/tasks/rerank';
import { ANTHROPIC_FILES, OPENAI_FILES } from './files/file-shapes';
import { FILE_ROUTES, type FileRequest, handleFiles } from './files/handle-files';
import { handleMcp, handleMcpEnd, handleMcpStream } from './mcp/endpoint/handle-mcp';
import { mcpEnvelope } from './mcp/endpoint/mcp-errors';
import { addConsentRoutes } from './mcp/oauth/consent-routes';
import { cachez, type GatherMetrics, healthz, livez, metricsPage, readyz } from './observe/status-pages';
import { showDataPlaneDocument } from './openapi/show-document';
import { handleChat } from './pipeline/chat/handle-chat';
import { handleStoredResponse, STORED_RESPONSE_ROUTES } from './pipeline/chat/handle-stored-responses';
import { handleEmbeddings } from './pipeline/embeddings/handle-embeddings';
import { listModels, type ModelDialects, showModel } from './pipeline/handle-models';
import { handleInfer } from './pipeline/infer/handle-infer';
import { modelEntrance, providerEntrance } from './pipeline/passthrough/entrances';
import { handlePassthrough } from './pipeline/passthrough/handle-passthrough';
import { handleClientSecret } from './pipeline/realtime/handle-client-secret';
import type { ChosenKey } from './pipeline/request/authenticate';
import { refuseWebSocket } from './pipeline/request/refuse-websocket';
import { asGatewayError, respondError } from './pipeline/request/respond-error';
import { handleTask } from './pipeline/tasks/handle-task';
import { DECISION, IMAGE, MODERATION, RERANK, SPEECH, TRANSCRIPTION } from './pipeline/tasks/kinds';
import type { Task } from './pipeline/tasks/task';
import { serveDashboard } from './process/serve-dashboard';
import { isDocsPath, serveDocs } from './process/serve-docs';
import type { Services } from './services/contract';

/** Chat endpoints by path; a dialect more is a line more. */
const CHAT_ROUTES: readonly (readonly [path: string, dialect: Dialect])[] = [
  ['/v1/chat/completions', openaiChat],
  ['/v1/completions', openaiCompletions],
  ['/v1/messages', anthropicMessages],
  ['/v1/messages/count_tokens', anthropicCount],
  ['/v1/responses', openaiResponses],
];
const MODEL_DIALECTS: ModelDialects = [openaiChat, anthropicMessages];

type Handle = (services: Services, request: Request, chosen?: ChosenKey) => Promise<Response>;

const serves =
  <R extends TaskRequest, A extends JsonObject>(task: Task<R, A>, dialect: TaskDialect<R, A>): Handle =>
  (services, request, chosen) =>
    handleTask(services, { task, dialect }, request, chosen);

const givesSecrets =
  (protocol: 'realtime' | 'translation'): Handle =>
  (services, request) =>
    handleClientSecret(services, { envelope: openaiChat, protocol }, request);

const drawPicture = serves(IMAGE, openaiImages);
const speak = serves(SPEECH, openaiSpeech);

/** Endpoints for anything but text, by path; a kind more is a line more. */
const TASK_ROUTES: readonly (readonly [path: string, handle: Handle])[] = [
  ['/v1/embeddings', (services, request) => handleEmbeddings(services, openaiEmbeddings, request)],
  ['/v1/moderations', serves(MODERATION, openaiModerations)],
  ['/v1/rerank', serves(RERANK, cohereRerank)],
  ['/v2/rerank', serves(RERANK, cohereRerank)],
  ['/v1/images/generations', drawPicture],
  ['/v1/images/edits', serves(IMAGE, openaiImageEdits)],
  ['/v1/audio/transcriptions', serves(TRANSCRIPTION, openaiTranscriptions)],
  ['/v1/audio/translations', serves(TRANSCRIPTION, openaiTranslations)],
  ['/v1/audio/speech', speak],
  ['/v1/decisions', serves(DECISION, openaiDecisions)],
  ['/v1/realtime/client_secrets', givesSecrets('realtime')],
  ['/v1/realtime/translations/client_secrets', givesSecrets('translation')],
];

const NATIVE_APIS = createProviderRegistry().list();
/** `…/{model}:generateContent` and its like, as that format's clients ask at the root, by either version. */
const MODEL_CALLS = ['/v1beta/models/:call{.+:\\w+}', '/v1/models/:call{.+:\\w+}'] as const;
const GEMINI_CALLS = modelEntrance('gemini-content', NATIVE_ERRORS);
const PASSTHROUGH = providerEntrance(NATIVE_ERRORS);

/** Data plane for operators who send as a chosen key. */
export const createSendAs = (services: Services) => ({
  images: (request: Request, chosen: ChosenKey) => drawPicture(services, request, chosen),
  speech: (request: Request, chosen: ChosenKey) => speak(services, request, chosen),
  chat: (request: Request, chosen: ChosenKey) => handleChat(services, openaiChat, request, chosen),
  mcp: (request: Request, chosen: ChosenKey) => {
    const scope = new URL(request.url).searchParams.get('scope') ?? undefined;
    return handleMcp(services, { scope }, request, chosen);
  },
  models: (request: Request, chosen: ChosenKey) => listModels(services, { request, dialects: MODEL_DIALECTS, chosen }),
});

type HotRoutes = Record<string, { POST: (request: Request) => Promise<Response> }>;

/** Chat endpoints directly in `Bun.serve`: the router costs as much as the whole admission. */
export function createHotRoutes(services: Services): HotRoutes {
  const hot = (handle: (request: Request) => Promise<Response>): HotRoutes[string] => ({
    POST: (request) => (services.openRequests.isDraining ? closeConnection(handle(request)) : handle(request)),
  });
  const chat = CHAT_ROUTES.map(([path, dialect]) => [path, hot((request) => handleChat(services, dialect, request))]);
  const tasks = TASK_ROUTES.map(([path, handle]) => [path, hot((request) => handle(services, request))]);
  return {
    ...Object.fromEntries([...chat, ...tasks]),
    '/mcp': hot((request) => handleMcp(services, { scope: undefined }, request)),
  };
}

/** HTTP backends: any method, without the router. */
export const createPlainRoutes = (services: Services): Record<string, (request: Request) => Promise<Response>> => ({
  '/infer/*': (request) => {
    const answer = handleInfer(services, openaiChat, request);
    return services.openRequests.isDraining ? closeConnection(answer) : answer;
  },
});

/** Paths for operators. */
export interface OperatorRoutes {
  /** The admin API, mounted under `/admin`. */
  readonly admin: Hono;
  /** Pages of the sign-in, mounted under `/auth`. */
  readonly auth: Hono;
  /** SCIM, mounted under `/scim`. */
  readonly scim: Hono;
  readonly gatherMetrics?: GatherMetrics;
}

type Page = readonly [path: string, handle: (request: Request) => Response | Promise<Response>];

/** The data plane and its probes; with `operator` the dashboard, the admin API and the status pages as well. */
export function createApp(services: Services, operator?: OperatorRoutes): Hono {
  const app = new Hono();
  for (const [path, dialect] of CHAT_ROUTES) {
    app.post(path, (c) => handleChat(services, dialect, c.req.raw));
    app.all(path, (c) => refuseUnposted(services, c.req));
  }
  for (const [path, handle] of TASK_ROUTES) app.post(path, (c) => handle(services, c.req.raw));
  for (const [path] of TASK_ROUTES) app.all(path, (c) => refuseMethod(services, 'POST', c.req.path));
  for (const path of ['/mcp', '/mcp/:alias']) {
    app.post(path, (c) => handleMcp(services, { scope: c.req.param('alias') }, c.req.raw));
    app.get(path, (c) => handleMcpStream(services, { scope: c.req.param('alias') }, c.req.raw));
    app.delete(path, (c) => handleMcpEnd(services, { scope: c.req.param('alias') }, c.req.raw));
    app.all(path, (c) => refuseMethod(services, 'POST, GET, DELETE', c.req.path));
  }
  addFileRoutes(app, services);
  addConsentRoutes(app, services);
  app.all('/passthrough/*', (c) => handlePassthrough(services, PASSTHROUGH, c.req.raw));
  app.all('/infer/*', (c) => handleInfer(services, openaiChat, c.req.raw));
  for (const path of MODEL_CALLS) app.post(path, (c) => handlePassthrough(services, GEMINI_CALLS, c.req.raw));
  app.all(MODEL_CALLS[0], (c) => refuseMethod(services, 'POST', c.req.path));
  app.all('/v1beta/*', (c) => notFound(services, c.req.path));
  const pages: readonly Page[] = [
    ['/v1/models', (request) => listModels(services, { request, dialects: MODEL_DIALECTS })],
    ['/livez', () => livez()],
    ['/readyz', () => readyz(services)],
    // Probe paths of the Go project.
    ['/ready', () => readyz(services)],
    ['/live', () => livez()],
    ['/openapi.json', () => showDataPlaneDocument(services.version)],
    ...(operator === undefined ? [] : statusPages(services, operator)),
  ];
  for (const [path, handle] of pages) {
    app.get(path, (c) => handle(c.req.raw));
    app.all(path, (c) => refuseMethod(services, 'GET', c.req.path));
  }
  app.get('/v1/models/:id{.+}', (c) =>
    showModel(services, { request: c.req.raw, id: c.req.param('id'), dialects: MODEL_DIALECTS }),
  );
  for (const path of Object.keys(STORED_RESPONSE_ROUTES)) {
    app.all(path, (c) => {
      const asked = { request: c.req.raw, id: c.req.param('id') ?? '', dialect: openaiResponses };
      return handleStoredResponse(services, asked, path);
    });
  }
  if (operator !== undefined) {
    app.route('/admin', operator.admin);
    app.route('/auth', operator.auth);
    app.route('/scim', operator.scim);
    app.get('*', async (c) => {
      const { path } = c.req;
      if (isDocsPath(path)) return serveDocs(path);
      const [acceptEncoding, ifNoneMatch, accept] = DASHBOARD_HEADERS.map((name) => c.req.header(name));
      const asked = { acceptEncoding, ifNoneMatch, accept };
      return (await serveDashboard(path, asked)) ?? notFound(services, path);
    });
  }
  app.notFound((c) => notFound(services, c.req.path));
  app.onError((cause, c) => refuse(services, c.req.path, asGatewayError(cause, services.log)));
  return app;
}

/** Files share a path: Anthropic's clients name a version. */
const fileFormat = ({ headers }: Request): Pick<FileRequest, 'dialect' | 'shape'> =>
  headers.has('anthropic-version')
    ? { dialect: anthropicMessages, shape: ANTHROPIC_FILES }
    : { dialect: openaiChat, shape: OPENAI_FILES };

/** Files and batches, in each format that has them. */
function addFileRoutes(app: Hono, services: Services): void {
  const endpoints = createLineEndpoints(services);
  for (const [path, methods] of Object.entries(FILE_ROUTES)) {
    for (const [method, work] of Object.entries(methods)) {
      app.on(method, path, ({ req }) =>
        handleFiles(services, { ...fileFormat(req.raw), request: req.raw, id: req.param('id') ?? '' }, work),
      );
    }
    app.all(path, (c) => refuseMethod(services, Object.keys(methods).join(', '), c.req.path));
  }
  const add = (routes: BatchRoutes, format: Pick<BatchRequest, 'dialect' | 'name'>) => {
    for (const [path, methods] of Object.entries(routes)) {
      for (const [method, work] of Object.entries(methods)) {
        app.on(method, path, ({ req }) =>
          handleBatches(services, { ...format, request: req.raw, id: req.param('id') ?? '', endpoints }, work),
        );
      }
      app.all(path, (c) => refuseMethod(services, Object.keys(methods).join(', '), c.req.path));
    }
  };
  add(BATCH_ROUTES, { dialect: openaiChat, name: 'openai-batches' });
  add(MESSAGE_BATCH_ROUTES, { dialect: anthropicMessages, name: 'anthropic-batches' });
}

const DASHBOARD_HEADERS = ['accept-encoding', 'if-none-match', 'accept'] as const;

const statusPages = (services: Services, { gatherMetrics }: OperatorRoutes): readonly Page[] => [
  ['/healthz', () => healthz(services)],
  ['/health', () => healthz(services)],
  ['/metrics', (request) => metricsPage(services, request, gatherMetrics)],
  ['/cachez', () => cachez(services)],
];

/** During shutdown, tells clients to reconnect. */
async function closeConnection(answer: Promise<Response>): Promise<Response> {
  const response = await answer;
  response.headers.set('Connection', 'close');
  return response;
}

const ENVELOPES: readonly (readonly [path: string, envelope: ErrorEnvelope])[] = [
  ...CHAT_ROUTES,
  ['/v1beta', NATIVE_ERRORS['gemini-content']],
  ['/mcp', mcpEnvelope(null)],
];

/** Refusals use the dialect of the path or its parent. */
export function refuse(services: Services, path: string, error: GatewayError): Response {
  const route = ENVELOPES.find(([known]) => path === known || path.startsWith(`${known}/`));
  return respondError(error, { requestId: services.createId(), dialect: route?.[1] ?? openaiChat });
}

function notFound(services: Services, path: string): Response {
  const shown = path.slice(0, 200);
  const owner = NATIVE_APIS.find(({ passthrough }) => passthrough?.nativeOnly?.test(path) === true);
  const hint =
    owner === undefined
      ? ''
      : ` The vendor's own API is at /passthrough/${owner.name}${shown}, where the operator lets keys use it.`;
  return refuse(services, path, new GatewayError('not_found', `Nothing exists at ${shown}.${hint}`));
}

function refuseUnposted(services: Services, { raw, path }: HonoRequest): Response {
  refuseWebSocket(raw.headers, 426);
  return refuseMethod(services, 'POST', path);
}

function refuseMethod(services: Services, allowed: string, path: string): Response {
  const error = new GatewayError('method_not_allowed', `This path takes ${allowed} only.`);
  const response = refuse(services, path, error);
  response.headers.set('Allow', allowed);
  return response;
}
