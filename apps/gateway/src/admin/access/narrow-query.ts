import type { TeamPlace } from '@llm0/core/access/access';
import type { Permission } from '@llm0/core/access/roles';
import { notFound } from '../fields/find-or-refuse';
import type { Topic } from '../live/live-topics';
import { type Asked, projectsWith, refused } from './asked';

/** No project has it. */
const NO_PROJECT = '00000000-0000-0000-0000-000000000000';

/** Leaves of `project_id` the person's projects; without one, all of them. A foreign one is 404. */
export async function narrowProjects(asked: Asked, permissions: readonly Permission[]): Promise<readonly TeamPlace[]> {
  const { c } = asked;
  const own = await projectsWith(asked, permissions);
  const url = new URL(c.req.raw.url);
  const wanted = new Set(url.searchParams.getAll('project_id').map((id) => id.toLowerCase()));
  const left = wanted.size === 0 ? own : own.filter(({ projectId }) => wanted.has(projectId));
  if (left.length < wanted.size) throw notFound('project');
  url.searchParams.delete('project_id');
  for (const { projectId } of left) url.searchParams.append('project_id', projectId);
  if (left.length === 0) url.searchParams.append('project_id', NO_PROJECT);
  c.req.raw = new Request(url, c.req.raw);
  return left;
}

/** What tells of all projects at once takes the permission everywhere. */
const TOPIC_PERMISSIONS: Readonly<Record<Topic, Permission>> = {
  logs: 'read_logs',
  overview: 'read_stats',
  traffic: 'read_system',
  status: 'read_system',
  alerts: 'read_system',
  audit: 'read_system',
};

/** As a list, for the topics that are asked for. */
export async function narrowLive(asked: Asked): Promise<readonly TeamPlace[] | 'everything'> {
  const { access } = asked.actor;
  const topics = (asked.c.req.query('topics') ?? '').split(',');
  // Unknown topics are the route's to refuse.
  const permissions = topics.flatMap((topic) => TOPIC_PERMISSIONS[topic as Topic] ?? []);
  if (permissions.every((permission) => access.mayEverywhere(permission))) return 'everything';
  if (!permissions.every((permission) => access.maySomewhere(permission))) throw refused();
  return narrowProjects(asked, permissions);
}
