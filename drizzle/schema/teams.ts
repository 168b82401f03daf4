import { ROLES, type Role } from '@llm0/core/access/roles';
import type { GuardrailRule } from '@llm0/core/guardrails/policy';
import { boolean, integer, jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { bytes, instant, instantOfInsert, nanoUsd } from './columns';

/** Budgets and limits of a level, and what everything below may use at most; null = no limit. */
const levelLimits = () => ({
  rateLimitPerMinute: integer('rate_limit_per_minute'),
  tokensPerMinute: integer('tokens_per_minute'),
  dailyBudgetNanoUsd: nanoUsd('daily_budget_usd'),
  weeklyBudgetNanoUsd: nanoUsd('weekly_budget_usd'),
  monthlyCapNanoUsd: nanoUsd('monthly_cap_usd'),
  allowedModels: jsonb('allowed_models').$type<readonly string[]>(),
  allowedProviders: jsonb('allowed_providers').$type<readonly string[]>(),
  passthrough: jsonb('passthrough').$type<readonly string[]>(),
  allowedTools: jsonb('allowed_tools').$type<readonly string[]>(),
  /** In addition to those of projects and keys. */
  guardrailRules: jsonb('guardrail_rules').$type<readonly GuardrailRule[]>(),
  /** See `Budget.version`. */
  version: integer('version').notNull().default(1),
});

export const organizations = pgTable('organizations', {
  id: uuid('id').primaryKey().defaultRandom(),
  name: text('name').notNull(),
  ...levelLimits(),
  createdAtMs: instantOfInsert('created_at'),
  updatedAtMs: instantOfInsert('updated_at'),
});

export const teams = pgTable('teams', {
  id: uuid('id').primaryKey().defaultRandom(),
  organizationId: uuid('organization_id').notNull(),
  name: text('name').notNull(),
  /** Of its projects without one of their own. */
  costCenter: text('cost_center'),
  /** New keys of members wait for an admin. */
  keyApproval: boolean('key_approval').notNull().default(false),
  ...levelLimits(),
  createdAtMs: instantOfInsert('created_at'),
  updatedAtMs: instantOfInsert('updated_at'),
});

/** A group of the provider gives a role in a team. */
export interface GroupRole {
  readonly group: string;
  readonly team_id: string;
  readonly role: Role;
}

/** Whose signed tokens work on the data plane. */
export interface TokenSettings {
  readonly audience: string;
  readonly algorithms: string[];
}

export const identityProviders = pgTable('identity_providers', {
  id: uuid('id').primaryKey().defaultRandom(),
  name: text('name').notNull(),
  issuer: text('issuer').notNull(),
  clientId: text('client_id').notNull(),
  /** null: none, or of the environment. */
  encryptedSecret: bytes('encrypted_secret'),
  encryptionKeyId: text('encryption_key_id'),
  scopes: text('scopes').notNull(),
  groupsClaim: text('groups_claim').notNull(),
  groupRoles: jsonb('group_roles').$type<readonly GroupRole[]>().notNull().default([]),
  /** null: its tokens don't work as keys. */
  jwt: jsonb('jwt').$type<TokenSettings>(),
  isFromEnvironment: boolean('is_from_environment').notNull().default(false),
  isActive: boolean('is_active').notNull().default(true),
  createdAtMs: instantOfInsert('created_at'),
  updatedAtMs: instantOfInsert('updated_at'),
});

/** Attributes of RFC 7643 by name. */
export type ScimProfile = Readonly<Record<string, unknown>>;

export const users = pgTable('users', {
  id: uuid('id').primaryKey().defaultRandom(),
  /** With `subject` the identity; null until the first sign-in. */
  issuer: text('issuer'),
  subject: text('subject'),
  email: text('email'),
  /** By the issuer of the last sign-in. */
  isEmailVerified: boolean('is_email_verified').notNull().default(false),
  name: text('name').notNull(),
  /** null: SCIM didn't send the user. */
  userName: text('user_name'),
  externalId: text('external_id'),
  /** What SCIM gets back beyond the other columns, in its own form. */
  scim: jsonb('scim').$type<ScimProfile>(),
  isActive: boolean('is_active').notNull().default(true),
  /** For tokens that name no project. */
  defaultProjectId: uuid('default_project_id'),
  lastSignInAtMs: instant('last_sign_in_at'),
  ...levelLimits(),
  createdAtMs: instantOfInsert('created_at'),
  updatedAtMs: instantOfInsert('updated_at'),
});

export const teamMembers = pgTable('team_members', {
  id: uuid('id').primaryKey().defaultRandom(),
  teamId: uuid('team_id').notNull(),
  userId: uuid('user_id').notNull(),
  role: text('role', { enum: ROLES }).notNull(),
  /** null: by role. */
  canReadBodies: boolean('can_read_bodies'),
  /** Whose group made it; null = added by hand. */
  identityProviderId: uuid('identity_provider_id'),
  /** By a group of SCIM, not of a token. */
  isFromScim: boolean('is_from_scim').notNull().default(false),
  createdAtMs: instantOfInsert('created_at'),
  updatedAtMs: instantOfInsert('updated_at'),
});

/** Groups that an identity provider sends by SCIM; `group_roles` refer to them by name. */
export const scimGroups = pgTable('scim_groups', {
  id: uuid('id').primaryKey().defaultRandom(),
  displayName: text('display_name').notNull(),
  externalId: text('external_id'),
  createdAtMs: instantOfInsert('created_at'),
  updatedAtMs: instantOfInsert('updated_at'),
});

export const scimGroupMembers = pgTable('scim_group_members', {
  groupId: uuid('group_id').notNull(),
  userId: uuid('user_id').notNull(),
});
