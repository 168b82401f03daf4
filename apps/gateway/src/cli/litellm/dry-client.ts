// The CLI validates bodies by the gateway's schemas. It asks the gateway only about reachable addresses and stored
// secrets.

import type { z } from '@hono/zod-openapi';
import type { JsonObject } from '@llm0/core/chat/json';
import { invalidInput } from '../../admin/admin-router';
import { aliasChangesSchema, newAliasSchema } from '../../admin/aliases/schema';
import { keyChangesSchema, newKeySchema } from '../../admin/keys/schema';
import { newProjectSchema, projectChangesSchema } from '../../admin/projects/schema';
import {
  newProviderKeySchema,
  newProviderSchema,
  providerChangesSchema,
  providerKeyChangesSchema,
} from '../../admin/providers/schema';
import { type AdminClient, RequestFailed } from '../admin-client';
import { isObject } from '../read-list';
import type { ImportClient } from './apply-step';

type Method = 'POST' | 'PATCH';

/** Methods of each path, with and without an id. */
const SCHEMAS: readonly (readonly [path: RegExp, bodies: Readonly<Record<Method, z.ZodType>>])[] = [
  [/^\/projects(?:\/[^/]+)?$/, { POST: newProjectSchema, PATCH: projectChangesSchema }],
  [/^\/projects\/[^/]+\/keys(?:\/[^/]+)?$/, { POST: newKeySchema, PATCH: keyChangesSchema }],
  [/^\/aliases(?:\/[^/]+)?$/, { POST: newAliasSchema, PATCH: aliasChangesSchema }],
  [/^\/providers(?:\/[^/]+)?$/, { POST: newProviderSchema, PATCH: providerChangesSchema }],
  [/^\/providers\/[^/]+\/keys(?:\/[^/]+)?$/, { POST: newProviderKeySchema, PATCH: providerKeyChangesSchema }],
];

/**
 * Reads through the given client and writes nothing: validates bodies, and returns empty answers. Throws
 * `RequestFailed` like the gateway, except for errors from its state.
 */
export function createDryClient(api: AdminClient): ImportClient {
  const judge = (method: Method, path: string, body: JsonObject) => {
    const schema = SCHEMAS.find(([pattern]) => pattern.test(path))?.[1][method];
    if (schema === undefined) throw new Error(`no schema for ${method} ${path}`);
    const result = schema.safeParse(body);
    if (result.success) return { text: '', body: {} };
    const { kind, message } = invalidInput(result.error);
    throw new RequestFailed(`400 ${kind}: ${message}`, 400);
  };
  const judgeAll = async (method: Method, path: string, body: JsonObject) => {
    const answer = judge(method, path, body);
    const { headers, key, base_url } = body;
    const stores_secret = key !== undefined || (isObject(headers) && Object.keys(headers).length > 0);
    if (!path.startsWith('/providers') || (typeof base_url !== 'string' && !stores_secret)) return answer;
    const asked: JsonObject = { name: path.split('/')[2] ?? body.name ?? '', stores_secret };
    await api.post('/providers/check', typeof base_url === 'string' ? { ...asked, base_url } : asked);
    return answer;
  };
  return {
    get: (path, query) => api.get(path, query),
    post: async (path, body = {}) => (body.dry_run === true ? api.post(path, body) : judgeAll('POST', path, body)),
    patch: async (path, body) => judgeAll('PATCH', path, body),
    delete: async () => ({ text: '', body: {} }),
  };
}
