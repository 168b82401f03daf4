import { z } from '@hono/zod-openapi';
import type { ManagedResource, StoredLease } from '@llm0/drizzle/queries/access/applies';
import { id, instantShown, pageOf, text } from '../fields/fields';
import { showFields } from '../fields/map-fields';

/** Names of applies, such as one for each repository. */
export const applyName = text(100).openapi({ description: 'Name of the apply, such as "default"' });

export const newApplySchema = z.strictObject({ apply_name: applyName }).openapi('NewApply');

export const applySchema = z
  .object({
    id: id.openapi({ description: 'Value of the header `X-LLM0-Apply` of its changes' }),
    apply_name: z.string(),
    actor: z.string(),
    expires_at: instantShown.openapi({ description: 'PUT renews it' }),
  })
  .openapi('Apply');

export const managedResourceSchema = z
  .object({
    apply_name: z.string(),
    resource: z.string(),
    resource_id: z.string(),
    is_created: z.boolean().openapi({ description: 'An apply of this name created it, and may delete it' }),
    secret_digest: z.string().nullable().openapi({ description: 'Salted SHA-256 of its secrets; null for viewers' }),
    applied_at: instantShown,
    changed_at: instantShown.nullable().openapi({ description: 'Last change past the file, after the last apply' }),
    changed_by: z.string().nullable(),
  })
  .openapi('ManagedResource');
export const managedPage = pageOf(managedResourceSchema);

export const showApply = (lease: StoredLease) => showFields(applySchema, lease);

export const showManaged = (managed: ManagedResource, withDigest: boolean) =>
  showFields(managedResourceSchema, { ...managed, secretDigest: withDigest ? managed.secretDigest : null });
