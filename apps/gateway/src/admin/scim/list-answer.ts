import type { Context } from 'hono';
import type { AdminEnv } from '../admin-services';

const LIST_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';

export const listAnswer = (
  resources: readonly object[],
  { total, startIndex }: { readonly total: number; readonly startIndex: number },
) => ({
  ...{ schemas: [LIST_SCHEMA], totalResults: total, startIndex, itemsPerPage: resources.length },
  Resources: resources,
});

export const sendScim = (c: Context<AdminEnv>, body: object, status: 200 | 201 = 200) =>
  c.body(JSON.stringify(body), status, { 'Content-Type': 'application/scim+json' });
