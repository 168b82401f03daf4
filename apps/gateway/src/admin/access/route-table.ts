import type { Permission } from '@llm0/core/access/roles';

/** How the guard finds the projects, team or organization that a request concerns. */
export type Where =
  /** Concerns what belongs to no team: the permission must hold everywhere. */
  | 'system'
  /** Everybody who may enter. */
  | 'anyone'
  /** The permission must hold somewhere; the route narrows its answer to those places. */
  | 'own'
  /** A list: the guard narrows `project_id` to the projects with the permission. */
  | 'list'
  /** As a list, with a permission for each topic. */
  | 'live'
  /** `{id}` is the project, and `team_id` in the body where it goes. */
  | 'project'
  /** `{key_id}`, or a new key: people without the permission may have it for keys of their own. */
  | 'key'
  /** The row of the id has the project; `project_id` in the body too. */
  | 'request'
  | 'alias'
  | 'alert'
  | 'annotation'
  | 'label_budget'
  /** `project_id` in the body. */
  | 'body'
  /** `team_id` in the body, `organization_id` in the body, `{id}` of either. */
  | 'new_project'
  | 'new_team'
  | 'team'
  | 'organization'
  /** `team_id` or `organization_id` in the body. */
  | 'level';

export type Rule = readonly [permission: Permission, where: Where];

const LIST_OF_LOGS: Rule = ['read_logs', 'list'];
const STATS: Rule = ['read_stats', 'list'];
const SPEND: Rule = ['read_spend', 'list'];
const STATEMENT: Rule = ['read_spend', 'own'];
const READ_PROJECT: Rule = ['read_settings', 'project'];
const CHANGE_PROJECT: Rule = ['change_settings', 'project'];
const OWN_KEY: Rule = ['change_keys', 'key'];
const READ_SYSTEM: Rule = ['read_system', 'system'];
const CHANGE_SYSTEM: Rule = ['change_system', 'system'];
const ANYONE: Rule = ['see', 'anyone'];
const MEMBERS: Rule = ['change_members', 'team'];

/** Changes that a person makes only right after a sign-in: an open browser is not enough. */
export const AFTER_SIGN_IN: ReadonlySet<string> = new Set([
  'DELETE /projects/{id}',
  'POST /projects/{id}/keys/{key_id}/rotate',
  'POST /projects/{id}/guardrails/webhook-secret',
  'POST /identity-providers',
  'PATCH /identity-providers/{id}',
  'DELETE /identity-providers/{id}',
  'POST /tokens',
  'PATCH /providers/{name}/keys/{key_id}',
  'POST /secrets/reencrypt',
]);

/** The one list of what each route of the admin API takes. A route that is not in it is refused. */
export const ROUTE_TABLE: Readonly<Record<string, Rule>> = {
  'GET /session': ANYONE,
  'DELETE /session': ANYONE,
  'GET /me': ANYONE,
  'GET /me/keys': ANYONE,
  'GET /models': ANYONE,
  'GET /models/{provider}/{model}': ANYONE,

  'GET /organizations': ['see', 'own'],
  'POST /organizations': CHANGE_SYSTEM,
  'GET /organizations/{id}': ['see', 'organization'],
  'PATCH /organizations/{id}': ['change_teams', 'organization'],
  'DELETE /organizations/{id}': CHANGE_SYSTEM,
  'GET /teams': ['see', 'own'],
  'POST /teams': ['change_teams', 'new_team'],
  'GET /teams/{id}': ['see', 'team'],
  'PATCH /teams/{id}': MEMBERS,
  'DELETE /teams/{id}': ['change_teams', 'team'],
  'GET /teams/{id}/shares': ['read_spend', 'team'],
  'GET /teams/{id}/members': ['read_settings', 'team'],
  'POST /teams/{id}/members': MEMBERS,
  'DELETE /teams/{id}/members/{user_id}': MEMBERS,
  'GET /users': ['change_members', 'own'],
  'POST /users': CHANGE_SYSTEM,
  'GET /users/{id}': ['change_members', 'own'],
  'PATCH /users/{id}': CHANGE_SYSTEM,
  'DELETE /users/{id}': CHANGE_SYSTEM,
  'DELETE /users/{id}/sessions': CHANGE_SYSTEM,
  'GET /identity-providers': READ_SYSTEM,
  'POST /identity-providers': CHANGE_SYSTEM,
  'GET /identity-providers/{id}': READ_SYSTEM,
  'PATCH /identity-providers/{id}': CHANGE_SYSTEM,
  'DELETE /identity-providers/{id}': CHANGE_SYSTEM,

  'GET /projects': ['see', 'list'],
  'POST /projects': ['change_settings', 'new_project'],
  'GET /projects/{id}': ['see', 'project'],
  'PATCH /projects/{id}': CHANGE_PROJECT,
  'DELETE /projects/{id}': CHANGE_PROJECT,
  'GET /projects/{id}/keys': READ_PROJECT,
  'POST /projects/{id}/keys': OWN_KEY,
  'GET /projects/{id}/keys/{key_id}': READ_PROJECT,
  'PATCH /projects/{id}/keys/{key_id}': OWN_KEY,
  'DELETE /projects/{id}/keys/{key_id}': OWN_KEY,
  'POST /projects/{id}/keys/{key_id}/rotate': OWN_KEY,
  'POST /projects/{id}/keys/{key_id}/approve': ['change_keys', 'project'],
  'POST /projects/{id}/keys/{key_id}/refuse': ['change_keys', 'project'],
  'GET /projects/{id}/keys/{key_id}/models': READ_PROJECT,
  'POST /projects/{id}/keys/{key_id}/chat/completions': OWN_KEY,
  'POST /projects/{id}/keys/{key_id}/images/generations': OWN_KEY,
  'POST /projects/{id}/keys/{key_id}/audio/speech': OWN_KEY,
  'POST /projects/{id}/keys/{key_id}/mcp': OWN_KEY,
  'GET /keys': ['read_settings', 'list'],
  'GET /key-names': ['see', 'list'],
  'GET /projects/{id}/guardrails': READ_PROJECT,
  'PUT /projects/{id}/guardrails': CHANGE_PROJECT,
  'GET /projects/{id}/guardrails/versions': READ_PROJECT,
  'POST /projects/{id}/guardrails/rollback': CHANGE_PROJECT,
  'POST /projects/{id}/guardrails/try': CHANGE_PROJECT,
  'POST /projects/{id}/guardrails/replay': ['read_bodies', 'project'],
  'POST /projects/{id}/guardrails/webhook-secret': CHANGE_PROJECT,
  'GET /projects/{id}/customers/{customer_id}/limits': READ_PROJECT,
  'PUT /projects/{id}/customers/{customer_id}/limits': CHANGE_PROJECT,
  'DELETE /projects/{id}/customers/{customer_id}/limits': CHANGE_PROJECT,
  'GET /customers': SPEND,

  'GET /aliases': ['read_settings', 'list'],
  'POST /aliases': ['change_settings', 'body'],
  'GET /aliases/{id}': ['read_settings', 'alias'],
  'PATCH /aliases/{id}': ['change_settings', 'alias'],
  'DELETE /aliases/{id}': ['change_settings', 'alias'],
  'GET /alerts': ['read_settings', 'list'],
  'POST /alerts': ['change_settings', 'body'],
  'GET /alerts/{id}': ['read_settings', 'alert'],
  'PATCH /alerts/{id}': ['change_settings', 'alert'],
  'DELETE /alerts/{id}': ['change_settings', 'alert'],
  'GET /alerts/{id}/firings': ['read_settings', 'alert'],
  'POST /alerts/{id}/test': ['change_settings', 'alert'],
  'GET /alert-preview': STATS,
  'GET /annotations': STATS,
  'POST /annotations': ['change_settings', 'body'],
  'DELETE /annotations/{id}': ['change_settings', 'annotation'],
  'GET /timeline': STATS,
  'GET /label-budgets': ['read_spend', 'list'],
  'POST /label-budgets': ['change_settings', 'body'],
  'GET /label-budgets/{id}': ['read_spend', 'label_budget'],
  'PATCH /label-budgets/{id}': ['change_settings', 'label_budget'],
  'DELETE /label-budgets/{id}': ['change_settings', 'label_budget'],

  'GET /logs': LIST_OF_LOGS,
  'GET /logs/histogram': LIST_OF_LOGS,
  'GET /logs/suggestions': LIST_OF_LOGS,
  'GET /logs/{request_id}': ['read_logs', 'request'],
  'GET /logs/{request_id}/bodies': ['read_bodies', 'request'],
  'GET /failovers': LIST_OF_LOGS,
  'GET /batches': LIST_OF_LOGS,
  'GET /batches/{id}': LIST_OF_LOGS,
  // Its lines hold prompts and answers.
  'GET /batches/{id}/files/{file}': ['read_bodies', 'list'],
  'POST /batches/{id}/cancel': ['change_settings', 'list'],
  'GET /runs': LIST_OF_LOGS,
  'GET /runs/{id}': LIST_OF_LOGS,
  // Of runs of other people's keys, the handler takes change_settings.
  'POST /runs/{id}/raise': ['change_own_keys', 'list'],
  'POST /runs/{id}/stop': ['change_own_keys', 'list'],
  'GET /tool-calls': LIST_OF_LOGS,
  'GET /tool-calls/{id}': ['read_logs', 'request'],
  'GET /tool-calls/{id}/bodies': ['read_bodies', 'request'],
  'GET /live': ['see', 'live'],
  'GET /audit': ['read_audit', 'list'],

  'GET /stats/cache': STATS,
  'GET /stats/differences': STATS,
  'GET /stats/errors': STATS,
  'GET /stats/failovers': STATS,
  'GET /stats/flows': STATS,
  'GET /stats/guardrails': STATS,
  'GET /stats/health': STATS,
  'GET /stats/histogram': STATS,
  'GET /stats/latency': STATS,
  'GET /stats/overview': STATS,
  'GET /stats/prompt-cache': STATS,
  'GET /stats/speeds': STATS,
  'GET /stats/tools': STATS,
  'GET /stats/spend': SPEND,
  'GET /stats/spend-table': SPEND,
  'GET /budgets': SPEND,
  'GET /finance/labels': SPEND,
  'GET /finance/statement': STATEMENT,
  'GET /finance/statement.csv': STATEMENT,
  'POST /finance/statement/close': ['close_months', 'level'],
  'GET /finance/closings': STATEMENT,
  'GET /finance/focus.csv': STATEMENT,
  'GET /cache/near-misses': LIST_OF_LOGS,
  'GET /cache/stats': READ_SYSTEM,
  'POST /cache/purge': ['change_settings', 'body'],
  'POST /cache/reject': CHANGE_SYSTEM,

  'GET /models/unpriced': READ_SYSTEM,
  'PUT /models': CHANGE_SYSTEM,
  'PATCH /models/{provider}/{model}': CHANGE_SYSTEM,
  'DELETE /models': CHANGE_SYSTEM,
  'POST /models/import': CHANGE_SYSTEM,
  'GET /chains': READ_SYSTEM,
  'GET /chains/{name}': READ_SYSTEM,
  'PUT /chains/{name}': CHANGE_SYSTEM,
  'DELETE /chains/{name}': CHANGE_SYSTEM,
  'GET /tokens': READ_SYSTEM,
  'POST /tokens': CHANGE_SYSTEM,
  'GET /tokens/{id}': READ_SYSTEM,
  'PATCH /tokens/{id}': CHANGE_SYSTEM,
  'DELETE /tokens/{id}': CHANGE_SYSTEM,
  'GET /views': READ_SYSTEM,
  'POST /views': CHANGE_SYSTEM,
  'GET /views/{id}': READ_SYSTEM,
  'PATCH /views/{id}': CHANGE_SYSTEM,
  'DELETE /views/{id}': CHANGE_SYSTEM,
  'GET /reconcile': READ_SYSTEM,
  'GET /log-database': READ_SYSTEM,
  'POST /log-database/compare': CHANGE_SYSTEM,
  'GET /status': READ_SYSTEM,
  'GET /system': READ_SYSTEM,
  'GET /system-logs': READ_SYSTEM,
  'GET /managed-resources': READ_SYSTEM,
  'POST /applies': CHANGE_SYSTEM,
  'PUT /applies/{id}': CHANGE_SYSTEM,
  'DELETE /applies/{id}': CHANGE_SYSTEM,
  'POST /demo-data': CHANGE_SYSTEM,
  'POST /secrets/reencrypt': CHANGE_SYSTEM,
  'GET /backends': READ_SYSTEM,
  'POST /backends': CHANGE_SYSTEM,
  'GET /backends/{id}': READ_SYSTEM,
  'PATCH /backends/{id}': CHANGE_SYSTEM,
  'DELETE /backends/{id}': CHANGE_SYSTEM,
  'POST /backends/{id}/test': CHANGE_SYSTEM,
  'GET /providers': READ_SYSTEM,
  'POST /providers': CHANGE_SYSTEM,
  'POST /providers/check': CHANGE_SYSTEM,
  'GET /providers/{name}': READ_SYSTEM,
  'PATCH /providers/{name}': CHANGE_SYSTEM,
  'DELETE /providers/{name}': CHANGE_SYSTEM,
  'POST /providers/{name}/test': CHANGE_SYSTEM,
  'GET /providers/{name}/keys': READ_SYSTEM,
  'POST /providers/{name}/keys': CHANGE_SYSTEM,
  'GET /providers/{name}/keys/{key_id}': READ_SYSTEM,
  'PATCH /providers/{name}/keys/{key_id}': CHANGE_SYSTEM,
  'DELETE /providers/{name}/keys/{key_id}': CHANGE_SYSTEM,
  'GET /mcp/servers': READ_SYSTEM,
  'POST /mcp/servers': CHANGE_SYSTEM,
  'POST /mcp/servers/check': CHANGE_SYSTEM,
  'GET /mcp/servers/{id}': READ_SYSTEM,
  'PATCH /mcp/servers/{id}': CHANGE_SYSTEM,
  'DELETE /mcp/servers/{id}': CHANGE_SYSTEM,
  'POST /mcp/servers/{id}/refresh': CHANGE_SYSTEM,
  'POST /mcp/servers/{id}/consent': CHANGE_SYSTEM,
  'GET /mcp/servers/{id}/grants': READ_SYSTEM,
  'DELETE /mcp/servers/{id}/grants/{grant_id}': CHANGE_SYSTEM,
  'GET /mcp/servers/{id}/tools': READ_SYSTEM,
  'POST /mcp/servers/{id}/tools/{name}/approve': CHANGE_SYSTEM,
  'POST /mcp/servers/{id}/tools/{name}/decline': CHANGE_SYSTEM,
};
