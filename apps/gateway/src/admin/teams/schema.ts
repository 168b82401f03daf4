import { z } from '@hono/zod-openapi';
import { ROLES } from '@llm0/core/access/roles';
import type { StoredMember, StoredOrganization, StoredTeam } from '@llm0/drizzle/queries/access/teams';

export { DEFAULT_TEAM_ID } from '@llm0/drizzle/queries/access/teams';

import { costCenter, id, instantShown, text } from '../fields/fields';
import { showFields } from '../fields/map-fields';
import { asLevel, levelLimits, levelLimitsShown } from './level-limits';

export const role = z.enum(ROLES);

export const newOrganizationSchema = z.strictObject({ name: text(), ...levelLimits }).openapi('NewOrganization');
export const organizationChangesSchema = z
  .strictObject({ name: text().optional(), ...levelLimits })
  .openapi('OrganizationChanges');
export const organizationSchema = z
  .object({ id, name: z.string(), ...levelLimitsShown, created_at: instantShown, updated_at: instantShown })
  .openapi('Organization');
export const showOrganization = (one: StoredOrganization) => showFields(organizationSchema, asLevel(one));

const ofTeam = {
  cost_center: costCenter.nullish().openapi({ description: 'Cost center of its projects without their own' }),
  key_approval: z.boolean().optional().openapi({
    default: false,
    description: 'New keys of members wait until an admin of the team approves them',
  }),
  ...levelLimits,
};

export const newTeamSchema = z
  .strictObject({
    organization_id: id.optional().openapi({ description: 'Default: the default organization' }),
    name: text(),
    ...ofTeam,
  })
  .openapi('NewTeam');
export const teamChangesSchema = z.strictObject({ name: text().optional(), ...ofTeam }).openapi('TeamChanges');
const shownTeam = z.object({
  id,
  organization_id: id,
  name: z.string(),
  cost_center: z.string().nullable(),
  key_approval: z.boolean(),
  ...levelLimitsShown,
  created_at: instantShown,
  updated_at: instantShown,
});
export const teamSchema = shownTeam.openapi('Team');
export const listedTeamSchema = shownTeam.extend({ projects: z.int(), members: z.int() }).openapi('ListedTeam');
export const showTeam = (team: StoredTeam) => showFields(teamSchema, asLevel(team));

export const newMemberSchema = z
  .strictObject({
    user_id: id,
    role,
    can_read_bodies: z
      .boolean()
      .nullish()
      .openapi({ description: 'May read stored prompts and answers; default: admins yes, others no' }),
  })
  .openapi('NewMember');
const memberFields = {
  user_id: id,
  team_id: id,
  role,
  can_read_bodies: z.boolean().nullable(),
  is_from_group: z.boolean().openapi({ description: 'A group of an identity provider gave it' }),
  created_at: instantShown,
};
export const memberSchema = z.object(memberFields).openapi('Member');
export const listedMemberSchema = z
  .object({ ...memberFields, name: z.string(), email: z.string().nullable(), is_active: z.boolean() })
  .openapi('ListedMember');

export const asMember = <M extends Pick<StoredMember, 'identityProviderId'>>(member: M) => ({
  ...{ ...member, isFromGroup: member.identityProviderId !== null },
});
export const showMember = (member: StoredMember) => showFields(memberSchema, asMember(member));
