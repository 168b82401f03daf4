import type { JsonObject } from '@llm0/core/chat/json';
import type { TaskRequest } from '@llm0/core/tasks/task-request';
import { anthropicMessages } from '../dialects/anthropic-messages/index';
import type { Dialect, EmbeddingDialect, TaskDialect } from '../dialects/dialect';
import { openaiChat } from '../dialects/openai-chat/index';
import { openaiCompletions } from '../dialects/openai-completions/index';
import { openaiEmbeddings } from '../dialects/openai-embeddings/index';
import { openaiResponses } from '../dialects/openai-responses/index';
import { openaiImageEdits, openaiImages } from '../dialects/tasks/images';
import { openaiModerations } from '../dialects/tasks/moderations';
import { handleChat } from '../pipeline/chat/handle-chat';
import { handleEmbeddings } from '../pipeline/embeddings/handle-embeddings';
import { planEmbeddings } from '../pipeline/embeddings/plan-embeddings';
import { planRequest } from '../pipeline/request/plan-request';
import { handleTask } from '../pipeline/tasks/handle-task';
import { IMAGE, MODERATION } from '../pipeline/tasks/kinds';
import { planTask } from '../pipeline/tasks/plan-task';
import type { Task } from '../pipeline/tasks/task';
import type { Services } from '../services/contract';
import type { LineEndpoint, LineEndpoints } from './line-endpoint';

export const MESSAGES_PATH = '/v1/messages';

/** Endpoints that batches may use; one more is a line more. */
export const createLineEndpoints = (services: Services): LineEndpoints => ({
  '/v1/chat/completions': chatLines(services, openaiChat),
  '/v1/completions': chatLines(services, openaiCompletions),
  '/v1/responses': chatLines(services, openaiResponses),
  [MESSAGES_PATH]: chatLines(services, anthropicMessages),
  '/v1/embeddings': embeddingLines(services, openaiEmbeddings),
  '/v1/moderations': taskLines(services, MODERATION, openaiModerations),
  '/v1/images/generations': taskLines(services, IMAGE, openaiImages),
  '/v1/images/edits': taskLines(services, IMAGE, openaiImageEdits),
});

const chatLines = (services: Services, dialect: Dialect): LineEndpoint => ({
  handle: (request, chosen) => handleChat(services, dialect, request, chosen),
  boundOf: ({ ctx, principal, headers }, body) => {
    const request = dialect.decodeRequest(body, headers);
    return planRequest(services, { ctx, principal, dialect: dialect.name, request }).hold.holdNanoUsd;
  },
  encodeFor: ({ ctx, principal, headers }, body) => {
    const request = dialect.decodeRequest(body, headers);
    const plan = planRequest(services, { ctx, principal, dialect: dialect.name, request });
    const { provider, model, priced } = plan.route.targets[0];
    const connected = services.connect({ provider, model }, principal.project.id);
    if (connected === undefined) throw new Error(`${provider} is not connected`);
    const { connection } = connected;
    const { dropParams, outputLimit } = plan;
    const sent = connected.provider.encodeRequest(request, { connection, model, priced, dropParams, outputLimit });
    if (typeof sent.body !== 'string') throw new Error('the request is too large for a batch');
    return { provider, model, url: sent.url, body: sent.body };
  },
  withServices: (others) => chatLines(others, dialect),
});

const embeddingLines = (services: Services, dialect: EmbeddingDialect): LineEndpoint => ({
  handle: (request, chosen) => handleEmbeddings(services, dialect, request, chosen),
  boundOf: ({ ctx, principal }, body) => {
    const { request } = dialect.decodeRequest(body);
    const job = { model: request.model, request, known: new Map() };
    return planEmbeddings(services, { ctx, principal, dialect: dialect.name, request: job }).admit.holdNanoUsd;
  },
  withServices: (others) => embeddingLines(others, dialect),
});

/** The bound of a picture is the same for all. */
const ANY_PICTURE = { name: '', type: 'image/png', pieces: [Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')] };

const taskLines = <R extends TaskRequest, A extends JsonObject>(
  services: Services,
  task: Task<R, A>,
  dialect: TaskDialect<R, A>,
): LineEndpoint => ({
  handle: (request, chosen) => handleTask(services, { task, dialect }, request, chosen),
  boundOf: ({ ctx, principal }, body) => {
    const { fields, references } = dialect.referencesOf?.(body) ?? { fields: body, references: [] };
    const files = references.map(({ field }) => [field, ANY_PICTURE] as const);
    const request = dialect.decodeRequest({ fields, files });
    const job = { model: request.model, request };
    return planTask(services, task, { ctx, principal, dialect: dialect.name, request: job }).admit.holdNanoUsd;
  },
  withServices: (others) => taskLines(others, task, dialect),
});
