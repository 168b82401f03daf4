import { createRoute, z } from '@hono/zod-openapi';
import { findKeyHash } from '@llm0/drizzle/queries/access/api-keys';
import { addAuditEntry } from '@llm0/drizzle/queries/access/audit-trail';
import { answers, createRouter, routesOf } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { id, text } from '../fields/fields';
import { required } from '../fields/find-or-refuse';

/** Their bodies are the data plane's to read: up to MAX_BODY_BYTES, numbers as they were written. */
export const SEND_AS_PATHS = ['/v1/projects/:id/keys/:key_id/chat/completions', '/v1/projects/:id/keys/:key_id/mcp'];

/** Marks an answer or refusal as the data plane's, not the admin API's. */
const SENT_AS = 'X-LLM0-Sent-As';

const at = routesOf('playground');
const params = z.object({ id, key_id: id });

const send = createRoute({
  ...at('post', '/projects/{id}/keys/{key_id}/chat/completions', 'Send a chat request as this key, without its secret'),
  description:
    'Body, headers and answer are those of `POST /v1/chat/completions`. Limits, budgets, caches and the log take the ' +
    "request for the key's own; the audit log names who sent it. Answers carry `X-LLM0-Sent-As: <key id>`.",
  request: { params },
  responses: { 200: answers(z.looseObject({}), 'A chat completion, or with `stream: true` its events') },
});
const models = createRoute({
  ...at('get', '/projects/{id}/keys/{key_id}/models', "List the key's models, like `GET /v1/models`"),
  request: { params },
  responses: {
    200: answers(z.object({ object: z.literal('list'), data: z.array(z.looseObject({ id: z.string() })) }), 'Models'),
  },
});

const message = createRoute({
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
  return createRouter()
    .openapi(send, async (c) => {
      const { id: projectId, key_id: keyId } = c.req.valid('param');
      const chosen = await choose({ id: projectId, key_id: keyId }, c.get('requestId'));
      // Writes the audit entry first: an unrecorded request isn't sent.
      const after = { project_id: projectId, request_id: chosen.requestId };
      const noted = { action: 'send', resource: 'playground', resourceId: keyId, after };
      await addAuditEntry(db, { actor: c.get('actor').name, ...noted });
      const response = await sendAs.chat(c.req.raw, chosen);
      response.headers.set(SENT_AS, keyId);
      return response as never;
    })
    .openapi(message, async (c) => {
      const path = c.req.valid('param');
      const chosen = await choose(path, c.get('requestId'));
      const after = { project_id: path.id, request_id: chosen.requestId };
      const noted = { action: 'send', resource: 'tools', resourceId: path.key_id, after };
      await addAuditEntry(db, { actor: c.get('actor').name, ...noted });
      const response = await sendAs.mcp(c.req.raw, chosen);
      response.headers.set(SENT_AS, path.key_id);
      return response as never;
    })
    .openapi(models, async (c) => {
      const path = c.req.valid('param');
      const response = await sendAs.models(c.req.raw, await choose(path, c.get('requestId')));
      response.headers.set(SENT_AS, path.key_id);
      return response as never;
    });
}
