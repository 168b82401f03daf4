/** Roles of members, from the widest to the narrowest. */
export const ROLES = ['system_admin', 'org_admin', 'team_admin', 'member', 'viewer', 'auditor', 'billing'] as const;
export type Role = (typeof ROLES)[number];

/** What a person or token may do. Those of `system` concern what belongs to no team. */
export const PERMISSIONS = [
  'see',
  'read_settings',
  'read_spend',
  'read_stats',
  'read_logs',
  'read_bodies',
  'read_audit',
  'change_own_keys',
  'change_keys',
  'change_settings',
  'change_members',
  'change_teams',
  'close_months',
  'read_system',
  'change_system',
] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** Where a role holds: in its team, in all teams of the team's organization, or everywhere. */
export type Reach = 'team' | 'organization' | 'system';

const SYSTEM: readonly Permission[] = ['read_system', 'change_system'];
const inOrganization = PERMISSIONS.filter((one) => !SYSTEM.includes(one));
const READS = ['see', 'read_settings', 'read_spend', 'read_stats', 'read_logs'] as const;

/** The one table of roles: where each holds, and what it permits. */
export const ROLE_TABLE = {
  system_admin: { reach: 'system', permissions: PERMISSIONS },
  org_admin: { reach: 'organization', permissions: inOrganization },
  team_admin: {
    reach: 'team',
    permissions: inOrganization.filter((one) => one !== 'change_teams' && one !== 'close_months'),
  },
  member: { reach: 'team', permissions: [...READS, 'change_own_keys'] },
  viewer: { reach: 'team', permissions: READS },
  auditor: { reach: 'team', permissions: ['see', 'read_logs', 'read_audit'] },
  billing: { reach: 'team', permissions: ['see', 'read_spend', 'close_months'] },
} as const satisfies Record<Role, { readonly reach: Reach; readonly permissions: readonly Permission[] }>;

/** Admin tokens hold everywhere. Those of `scim` work at `/scim/v2` only. */
export const TOKEN_TABLE = {
  admin: PERMISSIONS,
  viewer: [...READS, 'read_audit', 'read_system'],
  scim: [],
} as const satisfies Record<string, readonly Permission[]>;

/** A membership's permissions. Reading bodies may be given to or taken from all but auditors and billing. */
export function permissionsOf(role: Role, canReadBodies: boolean | null): ReadonlySet<Permission> {
  const permissions = new Set<Permission>(ROLE_TABLE[role].permissions);
  if (canReadBodies === false) permissions.delete('read_bodies');
  if (canReadBodies === true && permissions.has('read_settings')) permissions.add('read_bodies');
  return permissions;
}

const REACHES: readonly Reach[] = ['team', 'organization', 'system'];

/** True if a role holds no further than another, so that its holder may give it. */
export const reachesNoFurther = (role: Role, than: Reach): boolean =>
  REACHES.indexOf(ROLE_TABLE[role].reach) <= REACHES.indexOf(than);
