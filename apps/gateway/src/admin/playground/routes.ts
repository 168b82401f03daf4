import { z } from '@hono/zod-openapi';
import type { AuditResource } from '@llm0/core/access/audit-names';
import { findKeyHash } from '@llm0/drizzle/queries/access/api-keys';
import { addAuditEntry } from '@llm0/drizzle/queries/access/audit-trail';
import { type AnyRouteContext, answers, createRouter, defineRoute, routesOf } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { id, text } from '../fields/fields';
import { required } from '../fields/find-or-refuse';

/** Their bodies are the data plane's to read: up to MAX_BODY_BYTES, numbers as they were written. */
export const SEND_AS_PATHS = ['chat/completions', 'images/generations', 'audio/speech', 'mcp'].map(
  (path) => `/v1/projects/:id/keys/:key_id/${path}`,
);

/** Marks an answer or refusal as the data plane's, not the admin API's. */
const SENT_AS = 'X-LLM0-Sent-As';

const at = routesOf('playground');
const params = z.object({ id, key_id: id });

const send = defineRoute({
  ...at('post', '/projects/{id}/keys/{key_id}/chat/completions', 'Send a chat request as this key, without its secret'),
  description:
    'Body, headers and answer are those of `POST /v1/chat/completions`. Limits, budgets, caches and the log take the ' +
    "request for the key's own; the audit log names who sent it. Answers carry `X-LLM0-Sent-As: <key id>`.",
  request: { params },
  responses: { 200: answers(z.looseObject({}), 'A chat completion, or with `stream: true` its events') },
});
const draw = defineRoute({
  ...at('post', '/projects/{id}/keys/{key_id}/images/generations', 'Make pictures as this key, without its secret'),
  description: 'As `POST /v1/images/generations`; otherwise like a chat request sent as the key.',
  request: { params },
  responses: { 200: answers(z.looseObject({}), 'Pictures') },
});
const speak = defineRoute({
  ...at('post', '/projects/{id}/keys/{key_id}/audio/speech', 'Speak a text as this key, without its secret'),
  description: 'As `POST /v1/audio/speech`; otherwise like a chat request sent as the key.',
  request: { params },
  responses: { 200: { description: 'Audio', content: { 'audio/mpeg': { schema: z.string() } } } },
});
const models = defineRoute({
  ...at('get', '/projects/{id}/keys/{key_id}/models', "List the key's models, like `GET /v1/models`"),
  request: { params },
  responses: {
    200: answers(z.object({ object: z.literal('list'), data: z.array(z.looseObject({ id: z.string() })) }), 'Models'),
  },
});

const message = defineRoute({
  ...at('post', '/projects/{id}/keys/{key_id}/mcp', 'Send an MCP message as this key, without its secret'),
  description:
    'Body, headers and answer are those of `POST /mcp`, or with `scope` of `POST /mcp/{scope}`: a server, or `code`. Limits, ' +
    "budgets and the log take the call for the key's own; the audit log names who sent it.",
  request: { params, query: z.object({ scope: text(64).optional() }) },
  responses: { 200: answers(z.looseObject({}), 'A JSON-RPC message, or a stream of them') },
});

export function playgroundRoutes({ db, sendAs }: Pick<AdminServices, 'db' | 'sendAs'>) {
  const choose = async (path: z.output<typeof params>, requestId: string) => {
    const keyHash = required(await findKeyHash(db, { projectId: path.id, id: path.key_id }), 'key');
    return { keyHash, requestId };
  };
  type Ask = keyof AdminServices['sendAs'];
  const pass = async (
    c: AnyRouteContext,
    path: z.output<typeof params>,
    how: { ask: Ask; resource: AuditResource },
  ) => {
    const chosen = await choose(path, c.get('requestId'));
    // Writes the audit entry first: an unrecorded request isn't sent.
    const after = { project_id: path.id, request_id: chosen.requestId };
    const noted = { actor: c.get('actor').name, resource: how.resource, resourceId: path.key_id, after };
    await addAuditEntry(db, { action: 'send', ...noted });
    const response = await sendAs[how.ask](c.req.raw, chosen);
    response.headers.set(SENT_AS, path.key_id);
    return response;
  };
  return createRouter()
    .openapi(send, (c) => pass(c, c.req.valid('param'), { ask: 'chat', resource: 'playground' }))
    .openapi(draw, (c) => pass(c, c.req.valid('param'), { ask: 'images', resource: 'playground' }))
    .openapi(speak, (c) => pass(c, c.req.valid('param'), { ask: 'speech', resource: 'playground' }))
    .openapi(message, (c) => pass(c, c.req.valid('param'), { ask: 'mcp', resource: 'tools' }))
    .openapi(models, async (c) => {
      const path = c.req.valid('param');
      const response = await sendAs.models(c.req.raw, await choose(path, c.get('requestId')));
      response.headers.set(SENT_AS, path.key_id);
      return response;
    });
}
