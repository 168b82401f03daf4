import { type SQL, sql } from 'drizzle-orm';

/** One project, or any of several; undefined: all. */
export type ProjectScope = string | readonly string[] | undefined;

/** The condition of a scope. One project keeps its own form, which partial indexes and plans know. */
export function ofProjects(scope: ProjectScope, column: SQL = sql`project_id`): SQL {
  if (scope === undefined) return sql`true`;
  if (typeof scope === 'string') return sql`${column} = ${scope}::uuid`;
  return sql`${column} = any(${`{${scope.join()}}`}::uuid[])`;
}

/** The condition over ids as text. */
export function namesProjects(scope: ProjectScope, text: SQL): SQL {
  if (scope === undefined) return sql`true`;
  return sql`${text} = any(${`{${[scope].flat().join()}}`}::text[])`;
}
