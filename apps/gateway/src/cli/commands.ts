import { ACCESS_COMMANDS } from './access/access-commands';
import { LEVEL_COMMANDS } from './access/level-commands';
import { LOGIN_COMMANDS } from './access/login-commands';
import { ALERT_COMMANDS } from './alert-commands';
import { ANNOTATION_COMMANDS } from './annotation-commands';
import { BATCH_COMMANDS } from './batch-commands';
import { LABEL_BUDGET_COMMANDS, RUN_COMMANDS } from './budget-commands';
import type { Command, LocalCommand } from './command';
import { CONFIG_COMMANDS } from './config-file/config-commands';
import { DEMO_COMMANDS } from './demo-commands';
import { FINANCE_COMMANDS } from './finance-commands';
import { GUARDRAIL_COMMANDS } from './guardrail-commands';
import { KEY_COMMANDS } from './key-commands';
import { LIMIT_COMMANDS } from './limit-commands';
import { LITELLM_COMMANDS } from './litellm/import-command';
import { LOCAL_COMMANDS } from './local-commands';
import { LOG_COMMANDS } from './log-commands';
import { MCP_COMMANDS } from './mcp/server-commands';
import { TOOL_CALL_COMMANDS } from './mcp/tool-call-commands';
import { PROJECT_COMMANDS } from './project-commands';
import { BACKEND_COMMANDS } from './routing/backend-commands';
import { MODEL_COMMANDS } from './routing/model-commands';
import { PROVIDER_COMMANDS } from './routing/provider-commands';
import { ROUTING_COMMANDS } from './routing/routing-commands';
import { STAT_COMMANDS } from './stat-commands';

/** All that `llm0` can do, in the order of its help. */
export const COMMANDS: readonly (Command | LocalCommand)[] = [
  ...PROJECT_COMMANDS,
  ...GUARDRAIL_COMMANDS,
  ...KEY_COMMANDS,
  ...LIMIT_COMMANDS,
  ...LABEL_BUDGET_COMMANDS,
  ...RUN_COMMANDS,
  ...MODEL_COMMANDS,
  ...PROVIDER_COMMANDS,
  ...BACKEND_COMMANDS,
  ...BATCH_COMMANDS,
  ...MCP_COMMANDS,
  ...TOOL_CALL_COMMANDS,
  ...ROUTING_COMMANDS,
  ...LOG_COMMANDS,
  ...STAT_COMMANDS,
  ...FINANCE_COMMANDS,
  ...ALERT_COMMANDS,
  ...ANNOTATION_COMMANDS,
  ...LEVEL_COMMANDS,
  ...ACCESS_COMMANDS,
  ...DEMO_COMMANDS,
  ...CONFIG_COMMANDS,
  ...LITELLM_COMMANDS,
  ...LOGIN_COMMANDS,
  ...LOCAL_COMMANDS,
];
