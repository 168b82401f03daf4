import { z } from '@hono/zod-openapi';
import type { JsonObject } from '@llm0/core/chat/json';
import { hashTool } from '@llm0/core/mcp/hash-tool';
import type { StoredMcpServer } from '@llm0/drizzle/queries/mcp/servers';
import type { StoredTool } from '@llm0/drizzle/queries/mcp/tools';
import { isOffered } from '../../mcp/calls/tool-rights';
import type { ServerCheck, ServerHealth, ServerPreview } from '../../mcp/mcp-admin';
import { count, id, instantShown, pageOf, text, toolPatterns, usd, usdShown } from '../fields/fields';
import { showFields } from '../fields/map-fields';
import { headers, secret, url } from '../providers/schema';

/** `/mcp/code` is Code Mode. */
const RESERVED_ALIASES: ReadonlySet<string> = new Set(['code']);
const MAX_TIMEOUT_MS = 600_000;
const MIN_TIMEOUT_MS = 100;
const DEFAULT_TIMEOUT_MS = 60_000;
const MAX_ARGS = 100;
/** A list of tools has no more. */
const MAX_PICKED = 2000;

const alias = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/, 'must be 1 to 32 lower-case letters, digits and hyphens')
  .refine((value) => !RESERVED_ALIASES.has(value), 'is the name of something else here')
  .openapi({ description: 'Prefix of its tools: <alias>__<tool>' });

const env = z
  .record(
    z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,99}$/, 'must be the name of a variable'),
    z
      .string()
      .max(8000)
      .refine((value) => !value.includes('\0'), 'must not contain NUL'),
  )
  .openapi({ writeOnly: true, description: 'Environment of a stdio server; the API returns only names' });

const scope = z
  .string()
  .regex(/^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/, 'must be scopes with one space between them')
  .max(2000);

const auth = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('none') }),
    z.strictObject({ type: z.literal('bearer'), token: secret }),
    z.strictObject({
      type: z.literal('header'),
      name: z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/, 'must be the name of a header'),
      value: secret,
    }),
    z
      .strictObject({
        type: z.literal('oauth_client'),
        client_id: text(2000),
        client_secret: secret,
        scope: scope.nullish(),
      })
      .openapi({ description: 'A token of the gateway, from client credentials' }),
    z
      .strictObject({
        type: z.literal('oauth_user'),
        client_id: text(2000).nullish(),
        client_secret: secret.nullish(),
        scope: scope.nullish(),
      })
      .openapi({
        description:
          'Each user consents by themselves, by API key and X-Customer-ID. Without client_id the gateway shows its metadata document, or registers',
      }),
  ])
  .openapi({ description: 'Authentication at the server; secrets are write-only. A change replaces all of it.' });

const settings = {
  description: z
    .string()
    .max(500)
    .refine((value) => value === '' || text(500).safeParse(value).success, 'must be well-formed text without NUL')
    .optional()
    .openapi({ description: 'Helps agents choose a server' }),
  headers: headers.nullish(),
  auth: auth.optional(),
  env: env.nullish(),
  allowed_tools: toolPatterns.nullish().openapi({ description: 'Names, with * as a wildcard; null = all' }),
  blocked_tools: toolPatterns.nullish(),
  price_per_call_usd: usd.optional().openapi({ default: 0 }),
  timeout_ms: count(MIN_TIMEOUT_MS, MAX_TIMEOUT_MS).optional().openapi({ default: DEFAULT_TIMEOUT_MS }),
  approve_changes: z.enum(['manual', 'auto']).optional().openapi({
    default: 'manual',
    description: "Changed and new tools wait for an admin's approval",
  }),
  is_active: z.boolean().optional(),
};

const command = text(1000);
const args = z
  .array(
    z
      .string()
      .max(4000)
      .refine((value) => !value.includes('\0'), 'must not contain NUL'),
  )
  .max(MAX_ARGS);

export const newServerSchema = z
  .strictObject({
    alias,
    transport: z.enum(['http', 'stdio']).optional().openapi({ default: 'http' }),
    url: url.nullish(),
    command: command.nullish().openapi({ description: 'Command of a stdio server, run without a shell' }),
    args: args.nullish(),
    approve: z.enum(['all', 'read_only', 'none']).optional().openapi({
      default: 'read_only',
      description: 'Tools that are approved at first: those that the server marks as read-only, all or none',
    }),
    approve_tools: z
      .array(z.strictObject({ name: text(128), hash: text(64) }))
      .max(MAX_PICKED)
      .optional()
      .openapi({
        description:
          'Instead of `approve`: the tools that an operator picked, with the hashes of POST /mcp/servers/check. A tool with another hash waits',
      }),
    decline_tools: z
      .array(z.strictObject({ name: text(128), hash: text(64) }))
      .max(MAX_PICKED)
      .optional()
      .openapi({ description: 'With `approve_tools`: those that the operator saw and left out. They do not wait' }),
    ...settings,
  })
  .openapi('NewMcpServer');

export const serverChangesSchema = z
  .strictObject({ url: url.optional(), command: command.optional(), args: args.nullish(), ...settings })
  .openapi('McpServerChanges');

const health = z.object({
  state: z.enum(['ok', 'failing', 'unknown', 'inactive']).openapi({
    description: 'State in the answering process; unknown before the first use',
  }),
  error: z.string().nullable(),
  tool_count: z.int().nullable(),
  held_back_count: z
    .int()
    .openapi({ description: 'Offered tools that wait for an admin, who has neither approved nor declined them' }),
  odd_count: z.int().openapi({ description: 'Tools with invalid names or schemas' }),
});

export const serverSchema = z
  .object({
    id,
    alias: z.string(),
    description: z.string(),
    transport: z.enum(['http', 'stdio']),
    url: z.string().nullable(),
    command: z.string().nullable(),
    args: z.array(z.string()),
    env_names: z.array(z.string()),
    header_names: z.array(z.string()),
    auth: z.object({
      type: z.string(),
      name: z.string().optional(),
      client_id: z.string().optional(),
      scope: z.string().optional(),
    }),
    allowed_tools: z.array(z.string()).nullable(),
    blocked_tools: z.array(z.string()),
    price_per_call_usd: usdShown,
    timeout_ms: z.int(),
    approve_changes: z.enum(['manual', 'auto']),
    is_active: z.boolean(),
    health,
    created_at: instantShown,
    updated_at: instantShown,
  })
  .openapi('McpServer');
export const serverPage = pageOf(serverSchema);

const said = z.record(z.string(), z.unknown()).nullable();
export const toolSchema = z
  .object({
    name: z.string(),
    description: z.string().nullable(),
    input_schema: z.record(z.string(), z.unknown()),
    state: z.enum(['approved', 'changed', 'new', 'declined', 'gone']).openapi({
      description: "changed and new tools wait for an admin's approval; declined ones were left out by an admin",
    }),
    is_offered: z.boolean().openapi({ description: 'allowed_tools and blocked_tools of the server permit it' }),
    price_per_call_usd: usdShown,
    hash: z.string().openapi({ description: 'Hash of the current description' }),
    seen: said.openapi({ description: 'The version that the server lists now' }),
    approved: said.openapi({ description: 'The approved version; null = never approved' }),
    seen_at: instantShown,
    approved_at: instantShown.nullable(),
  })
  .openapi('McpTool');

export const checkSchema = z
  .object({
    ok: z.boolean(),
    latency_ms: z.number(),
    error: z.string().nullable(),
    protocol_version: z.string().nullable(),
    server_info: z.object({ name: z.string(), version: z.string() }).nullable(),
    tools: z.array(z.string()).openapi({ description: 'Tools that can be called' }),
    held_back: z.array(z.string()).openapi({ description: 'Tools that wait for an admin' }),
  })
  .openapi('McpServerCheck');

export const previewSchema = z
  .object({
    ok: z.boolean(),
    latency_ms: z.number(),
    error: z.string().nullable(),
    tools: z.array(
      z.object({
        name: z.string(),
        description: z.string().nullable(),
        hash: z.string().openapi({ description: 'For `approve_tools`' }),
        seen: z.record(z.string(), z.unknown()).openapi({ description: 'As the server lists it' }),
      }),
    ),
    odd_count: z.int().openapi({ description: 'Tools with invalid names or schemas' }),
  })
  .openapi('McpServerPreview');

const NONE: ReadonlySet<string> = new Set();

/** `declined`: its tools that an operator left out, which do not wait. */
export function showServer(row: StoredMcpServer, health: ServerHealth, declined = NONE) {
  const { toolCount, heldBack, oddCount, ...seen } = health;
  const waiting = heldBack.filter((name) => isOffered(row, name) && !declined.has(name));
  return showFields(serverSchema, {
    ...row,
    auth: { type: row.authType, ...row.authOptions },
    health: { ...seen, tool_count: toolCount, held_back_count: waiting.length, odd_count: oddCount },
  });
}

export const showTool = (tool: StoredTool, server: StoredMcpServer) =>
  showFields(toolSchema, {
    ...tool,
    description: typeof tool.seen.description === 'string' ? tool.seen.description : null,
    inputSchema: (tool.seen.inputSchema ?? {}) as JsonObject,
    state: stateOf(tool),
    isOffered: isOffered(server, tool.name),
    pricePerCallNanoUsd: server.pricePerCallNanoUsd,
    hash: tool.seenHash,
  });

type ToolState = z.output<typeof toolSchema>['state'];

export function stateOf({ isGone, approvedHash, declinedHash, seenHash }: StoredTool): ToolState {
  if (isGone) return 'gone';
  if (declinedHash === seenHash) return 'declined';
  if (approvedHash === null) return 'new';
  return approvedHash === seenHash ? 'approved' : 'changed';
}

export const showCheck = (check: ServerCheck, tools: readonly StoredTool[]) => {
  const named = (...states: readonly ToolState[]) =>
    tools.filter((tool) => states.includes(stateOf(tool))).map(({ name }) => name);
  return {
    ok: check.ok,
    latency_ms: Math.round(check.latencyMs * 1000) / 1000,
    error: check.error,
    protocol_version: check.protocolVersion,
    server_info: check.serverInfo,
    tools: named('approved'),
    held_back: named('new', 'changed'),
  };
};

export const showPreview = ({ tools, odd, ...check }: ServerPreview): z.output<typeof previewSchema> => ({
  ok: check.error === null,
  latency_ms: Math.round(check.latencyMs * 1000) / 1000,
  error: check.error,
  tools: tools.map(({ name, tool }) => ({
    ...{ name, hash: hashTool(tool), seen: tool },
    description: typeof tool.description === 'string' ? tool.description : null,
  })),
  odd_count: odd,
});
