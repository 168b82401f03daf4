/** Subjects of entries in the audit log. */
export const AUDIT_RESOURCES = [
  ...(['project', 'key', 'customer_limits', 'guardrails', 'model', 'provider', 'provider_key', 'alias'] as const),
  ...(['chain', 'backend', 'mcp_server', 'mcp_tool', 'mcp_grant', 'batch', 'run', 'alert', 'cache'] as const),
  ...(['annotation', 'organization', 'team', 'member', 'user', 'token', 'admin_token', 'session'] as const),
  ...(['identity_provider', 'scim_group', 'label_budget', 'closing', 'saved_view', 'secrets'] as const),
  ...(['playground', 'tools', 'log_database', 'demo_data'] as const),
] as const;
export type AuditResource = (typeof AUDIT_RESOURCES)[number];

/** Verbs of entries in the audit log. */
export const AUDIT_ACTIONS = [
  ...(['create', 'update', 'delete', 'rotate', 'approve', 'refuse', 'import', 'purge', 'reject'] as const),
  ...(['send', 'sign_in', 'reset', 'reencrypt', 'cancel', 'compare', 'end_sessions', 'use'] as const),
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];
