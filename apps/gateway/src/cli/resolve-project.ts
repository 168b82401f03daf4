import type { AdminClient } from './admin-client';
import { RequestFailed } from './admin-client';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A project's id from its id or its name; a name must belong to one project only. */
export async function resolveProject(api: AdminClient, idOrName: string): Promise<string> {
  if (UUID.test(idOrName)) return idOrName;
  const found: string[] = [];
  let cursor: string | null = null;
  do {
    const { body } = await api.get('/projects', { limit: 1000, cursor });
    for (const project of Array.isArray(body.data) ? body.data : []) {
      if (typeof project !== 'object' || project === null || Array.isArray(project)) continue;
      if (project.name === idOrName) found.push(String(project.id));
    }
    cursor = typeof body.next_cursor === 'string' ? body.next_cursor : null;
  } while (cursor !== null);
  const [only, ...others] = found;
  if (only === undefined) throw new RequestFailed(`There is no project "${idOrName}".`);
  if (others.length > 0) throw new RequestFailed(`More than one project is called "${idOrName}": use the id.`);
  return only;
}
