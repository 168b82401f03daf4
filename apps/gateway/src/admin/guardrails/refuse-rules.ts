import { GatewayError, invalidRequest } from '@llm0/core/errors/gateway-error';
import { checkRules } from '@llm0/core/guardrails/check-policy';
import type { GuardrailRule } from '@llm0/core/guardrails/policy';
import { resolveTargets } from '@llm0/core/routing/resolve-targets';
import { findGuardrails, findKeyWithRule } from '@llm0/drizzle/queries/access/guardrails';
import type { StoredProject } from '@llm0/drizzle/queries/access/projects';
import type { AdminServices } from '../admin-services';

export type RuleNeeds = Pick<AdminServices, 'db' | 'guardrailChecks' | 'checkUrl' | 'routing' | 'connect'>;
type Project = Pick<StoredProject, 'id' | 'unknownModelPolicy'>;

export interface RulesToCheck {
  readonly rules: readonly GuardrailRule[];
  readonly project: Project;
  /** Field of the request body. */
  readonly field?: string;
}

/** Throws `invalid_request` for rules that cannot be asked, and for webhooks that lead to where requests may not go. */
export async function refuseRules(
  services: RuleNeeds,
  { rules, project, field = 'rules' }: RulesToCheck,
): Promise<void> {
  checkRules(rules, services.guardrailChecks, field);
  for (const [index, { name, check }] of rules.entries()) {
    try {
      if (check.type === 'webhook') await services.checkUrl(check.url);
      if (check.type === 'moderation') refuseUnknownModel(services, check.model, project);
    } catch (cause) {
      if (!(cause instanceof GatewayError)) throw cause;
      const message = `${field}.${index}: rule "${name}": ${cause.message}`;
      throw invalidRequest(`${field}.${index}.check`, message, cause);
    }
  }
}

/** Throws for a model that no provider offers, or that the project refuses for want of a price. */
export function refuseUnknownModel(
  { routing, connect }: Pick<RuleNeeds, 'routing' | 'connect'>,
  model: string,
  { id, unknownModelPolicy }: Project,
): void {
  const tables = routing();
  const [target] = resolveTargets(model, tables, id).targets;
  const isKnown =
    target.priced !== undefined ||
    unknownModelPolicy === 'allow_unpriced' ||
    tables.providers.get(target.provider)?.liveModels.has(target.model) === true ||
    connect(target, id)?.provider.moderates?.(target.model) === true;
  if (isKnown) return;
  const message =
    `the model "${target.provider}/${target.model}" has no price, and no provider is known to offer it. ` +
    'Check its name, set a price (PUT /admin/v1/models), or set unknown_model_policy of the project to "allow_unpriced".';
  throw new GatewayError('model_not_found', message);
}

/** Rows, statistics and headers know rules by their names. Throws `invalid_request` where a key's rule is called as one of its project. */
export async function refuseSharedNames(
  { db }: Pick<RuleNeeds, 'db'>,
  { rules, project, field = 'rules' }: RulesToCheck,
  whose: 'project' | 'key',
): Promise<void> {
  const names = rules.map(({ name }) => name);
  if (names.length === 0) return;
  const shared =
    whose === 'key'
      ? (await findGuardrails(db, project.id))?.rules.find(({ name }) => names.includes(name))?.name
      : await findKeyWithRule(db, project.id, names);
  if (shared === undefined || shared === null) return;
  const rule = typeof shared === 'string' ? shared : shared.rule;
  const owner = typeof shared === 'string' ? 'the project' : `the key "${shared.keyName}"`;
  const message = `A rule of ${owner} is called "${rule}" too. Give each a name of its own.`;
  throw invalidRequest(`${field}.${names.indexOf(rule)}.name`, message);
}
