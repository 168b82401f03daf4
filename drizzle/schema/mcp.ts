import type { JsonObject } from '@llm0/core/chat/json';
import type { McpAuth, McpTransport } from '@llm0/core/mcp/server';
import { boolean, integer, jsonb, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { bytes, instant, instantOfInsert, nanoUsd } from './columns';

/** MCP servers with callable tools; encrypted columns are AES-256-GCM (nonce, ciphertext, tag). */
export const mcpServers = pgTable('mcp_servers', {
  id: uuid('id').primaryKey().defaultRandom(),
  alias: text('alias').notNull().unique(),
  description: text('description').notNull().default(''),
  transport: text('transport').$type<McpTransport>().notNull(),
  url: text('url'),
  command: text('command'),
  args: jsonb('args').$type<readonly string[]>().notNull().default([]),
  authType: text('auth_type').$type<McpAuth>().notNull().default('none'),
  /** Configuration without secrets. */
  authOptions: jsonb('auth_options').$type<Readonly<Record<string, string>>>().notNull().default({}),
  /** JSON of headers, environment and credentials. */
  encryptedSecrets: bytes('encrypted_secrets'),
  encryptionKeyId: text('encryption_key_id'),
  headerNames: jsonb('header_names').$type<readonly string[]>().notNull().default([]),
  envNames: jsonb('env_names').$type<readonly string[]>().notNull().default([]),
  /** null = all of them. */
  allowedTools: jsonb('allowed_tools').$type<readonly string[]>(),
  blockedTools: jsonb('blocked_tools').$type<readonly string[]>().notNull().default([]),
  pricePerCallNanoUsd: nanoUsd('price_per_call_usd').notNull().default(0),
  timeoutMs: integer('timeout_ms').notNull().default(60_000),
  approveChanges: text('approve_changes', { enum: ['manual', 'auto'] })
    .notNull()
    .default('manual'),
  /** Tools of the first list that are approved. */
  approve: text('approve', { enum: ['all', 'read_only', 'none'] })
    .notNull()
    .default('all'),
  /** null until its first list was read. */
  pinnedAtMs: instant('pinned_at'),
  isActive: boolean('is_active').notNull().default(true),
  createdAtMs: instantOfInsert('created_at'),
  updatedAtMs: instantOfInsert('updated_at'),
});

/** Approved and current description of each tool. */
export const mcpTools = pgTable(
  'mcp_tools',
  {
    serverId: uuid('server_id')
      .notNull()
      .references(() => mcpServers.id, { onDelete: 'cascade' }),
    name: text('name').notNull(),
    /** null = never approved. */
    approvedHash: text('approved_hash'),
    approved: jsonb('approved').$type<JsonObject>(),
    approvedAtMs: instant('approved_at'),
    /** Version that an operator left out; another one waits again. */
    declinedHash: text('declined_hash'),
    seenHash: text('seen_hash').notNull(),
    seen: jsonb('seen').$type<JsonObject>().notNull(),
    seenAtMs: instantOfInsert('seen_at'),
    isGone: boolean('is_gone').notNull().default(false),
  },
  (table) => [primaryKey({ columns: [table.serverId, table.name] })],
);

/** Consent of users, by API key and customer (`''` = none); tokens are sealed. */
export const mcpGrants = pgTable('mcp_grants', {
  id: uuid('id').primaryKey().defaultRandom(),
  serverId: uuid('server_id')
    .notNull()
    .references(() => mcpServers.id, { onDelete: 'cascade' }),
  apiKeyId: uuid('api_key_id').notNull(),
  customerId: text('customer_id').notNull().default(''),
  issuer: text('issuer').notNull(),
  scope: text('scope'),
  encryptedTokens: bytes('encrypted_tokens').notNull(),
  encryptionKeyId: text('encryption_key_id').notNull(),
  createdAtMs: instantOfInsert('created_at'),
  updatedAtMs: instantOfInsert('updated_at'),
});

/** Consent that was asked for; single use. */
export const mcpConsents = pgTable('mcp_consents', {
  id: uuid('id').primaryKey().defaultRandom(),
  serverId: uuid('server_id')
    .notNull()
    .references(() => mcpServers.id, { onDelete: 'cascade' }),
  apiKeyId: uuid('api_key_id').notNull(),
  customerId: text('customer_id').notNull().default(''),
  scope: text('scope'),
  ticketHash: text('ticket_hash').notNull().unique(),
  stateHash: text('state_hash').unique(),
  encryptedFlow: bytes('encrypted_flow'),
  encryptionKeyId: text('encryption_key_id'),
  createdAtMs: instantOfInsert('created_at'),
  expiresAtMs: instant('expires_at').notNull(),
});

/** The gateway as a client that an authorization server has registered. */
export const mcpOauthClients = pgTable('mcp_oauth_clients', {
  id: uuid('id').primaryKey().defaultRandom(),
  serverId: uuid('server_id')
    .notNull()
    .references(() => mcpServers.id, { onDelete: 'cascade' }),
  issuer: text('issuer').notNull(),
  redirectUrl: text('redirect_url').notNull(),
  encryptedClient: bytes('encrypted_client').notNull(),
  encryptionKeyId: text('encryption_key_id').notNull(),
  createdAtMs: instantOfInsert('created_at'),
  updatedAtMs: instantOfInsert('updated_at'),
});
