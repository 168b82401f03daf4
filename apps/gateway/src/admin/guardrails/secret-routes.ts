import { z } from '@hono/zod-openapi';
import { showWebhookSecret, webhookSecret } from '@llm0/core/guardrails/checks/webhook-secret';
import { findProjectSecret } from '@llm0/drizzle/queries/access/project-secret';
import { answers, createRouter, defineRoute, routesOf } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { id } from '../fields/fields';
import { required, requireProject } from '../fields/find-or-refuse';
import { webhookSecretSchema } from './schema';

const at = routesOf('guardrails');

const secret = defineRoute({
  ...at(
    'post',
    '/projects/{id}/guardrails/webhook-secret',
    "Show the signing secret of the project's webhooks (Standard Webhooks)",
  ),
  request: { params: z.object({ id }) },
  responses: { 200: answers(webhookSecretSchema, 'The secret, always the same') },
});
/** Secret for verifying a guardrail webhook's calls. */
export function guardrailSecretRoutes({ db }: Pick<AdminServices, 'db'>) {
  return createRouter().openapi(secret, async (c) => {
    const { id: projectId } = c.req.valid('param');
    await requireProject(db, projectId);
    const own = required(await findProjectSecret(db, projectId), 'project');
    return c.json({ secret: showWebhookSecret(webhookSecret(own)) }, 200);
  });
}
