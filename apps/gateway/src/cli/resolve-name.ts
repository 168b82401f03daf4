import { type AdminClient, RequestFailed } from './admin-client';
import { everyOf } from './read-list';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export const isId = (text: string): boolean => UUID.test(text);

/** A project's id from its id or its name. */
export const resolveProject = (api: AdminClient, idOrName: string): Promise<string> =>
  resolveName(api, { what: 'project', path: '/projects', idOrName });

/** A key's path from ids or names of its project and itself. */
export async function resolveKey(api: AdminClient, project: string, idOrName: string): Promise<string> {
  const path = `/projects/${await resolveProject(api, project)}/keys`;
  return `${path}/${await resolveName(api, { what: 'key', path, idOrName })}`;
}

interface Named {
  readonly what: string;
  /** Path of a list whose items have an id and a name. */
  readonly path: string;
  readonly idOrName: string;
}

/** The id of the only resource with the name; throws for none or several. */
export async function resolveName(api: AdminClient, { what, path, idOrName }: Named): Promise<string> {
  if (isId(idOrName)) return idOrName;
  const found: string[] = [];
  for await (const one of everyOf(api, path)) if (one.name === idOrName) found.push(String(one.id));
  const [only, ...others] = found;
  if (only === undefined) throw new RequestFailed(`There is no ${what} "${idOrName}".`);
  if (others.length > 0) throw new RequestFailed(`More than one ${what} is called "${idOrName}": use the id.`);
  return only;
}
