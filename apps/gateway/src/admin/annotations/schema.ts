import { z } from '@hono/zod-openapi';
import { ANNOTATION_KINDS, type StoredAnnotation } from '@llm0/drizzle/queries/annotations';
import { id, instant, instantShown, text } from '../fields/fields';
import { showInstant } from '../fields/show-fields';

const MAX_TEXT = 500;

export const newAnnotationSchema = z
  .strictObject({
    text: text(MAX_TEXT),
    kind: z.enum(ANNOTATION_KINDS).default('note'),
    at: instant.optional().openapi({ description: 'Time of the event; default: now' }),
    project_id: id.nullish().openapi({ description: 'Appears only in charts of this project' }),
  })
  .openapi('NewAnnotation');

export const annotationSchema = z
  .object({
    id,
    at: instantShown,
    kind: z.enum(ANNOTATION_KINDS),
    text: z.string(),
    project_id: id.nullable(),
    actor: z.string().openapi({ description: 'Token that added it' }),
    created_at: instantShown,
  })
  .openapi('Annotation');

export const EVENT_KINDS = [...ANNOTATION_KINDS, 'key', 'limit', 'routing', 'start'] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

export const eventSchema = z
  .object({
    id,
    at: instantShown,
    kind: z.enum(EVENT_KINDS),
    text: z.string(),
    actor: z.string().nullable(),
    source: z.enum(['annotation', 'audit', 'gateway']).openapi({ description: 'Source of the event' }),
    project_id: id.nullable(),
  })
  .openapi('TimelineEvent');
export type TimelineEvent = z.output<typeof eventSchema>;

export const showAnnotation = (stored: StoredAnnotation): z.output<typeof annotationSchema> => ({
  id: stored.id,
  at: showInstant(stored.atMs),
  kind: stored.kind,
  text: stored.text,
  project_id: stored.projectId,
  actor: stored.actor,
  created_at: showInstant(stored.createdAtMs),
});
