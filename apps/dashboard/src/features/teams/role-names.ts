import type { Member } from './use-teams';

/** Roles as people read them, from the widest. */
export const ROLE_NAMES: Readonly<Record<Member['role'], string>> = {
  system_admin: 'system admin',
  org_admin: 'organization admin',
  team_admin: 'team admin',
  member: 'member',
  viewer: 'viewer',
  auditor: 'auditor',
  billing: 'billing',
};
