import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { Db } from '@llm0/drizzle/client';
import { projectRows, type StoredProject } from '@llm0/drizzle/queries/access/projects';

export function notFound(what: string): GatewayError {
  return new GatewayError('not_found', `There is no such ${what}.`);
}

/** The project, or `not_found`. */
export async function requireProject(db: Db, projectId: string): Promise<StoredProject> {
  return required(await projectRows.get(db, { id: projectId }), 'project');
}

/** The value; throws `not_found` without one. */
export function required<T>(value: T | null, what: string): T {
  if (value === null) throw notFound(what);
  return value;
}
