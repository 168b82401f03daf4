import { sessionRoutes } from './access/session';
import type { SignInThrottle } from './access/sign-in-throttle';
import { tokenRoutes } from './access/tokens';
import { createRouter } from './admin-router';
import type { AdminServices } from './admin-services';
import { alertRoutes } from './alerts/routes';
import { aliasRoutes } from './aliases/routes';
import { annotationRoutes } from './annotations/routes';
import { applyRoutes } from './applies/routes';
import { historyRoutes } from './audit/routes';
import { backendRoutes } from './backends/routes';
import { batchRoutes } from './batches/routes';
import { labelBudgetRoutes } from './budgets/label-routes';
import { budgetRoutes } from './budgets/routes';
import { cacheRoutes } from './cache/routes';
import { semanticCacheRoutes } from './cache/semantic-routes';
import { chainRoutes } from './chains/routes';
import type { HotStoreMirror } from './customers/hot-store-mirror';
import { customerListRoutes } from './customers/list-routes';
import { customerRoutes } from './customers/routes';
import { demoDataRoutes } from './demo/demo-data';
import { failoverRoutes } from './failovers/routes';
import { financeRoutes } from './finance/routes';
import { guardrailReplayRoutes } from './guardrails/replay-routes';
import { guardrailRoutes, guardrailTryoutRoutes } from './guardrails/routes';
import { guardrailSecretRoutes } from './guardrails/secret-routes';
import { keyApprovalRoutes } from './keys/approval-routes';
import { keyRoutes } from './keys/routes';
import { liveRoutes } from './live/routes';
import { logDatabaseRoutes } from './logs/log-database-routes';
import { logRoutes } from './logs/routes';
import { mcpGrantRoutes } from './mcp/grant-routes';
import { mcpCheckRoutes, mcpServerRoutes } from './mcp/routes';
import { mcpToolRoutes } from './mcp/tool-routes';
import { importModelRoutes } from './models/import-models';
import { modelRoutes } from './models/routes';
import { playgroundRoutes } from './playground/routes';
import { projectRoutes } from './projects/routes';
import { providerKeyRoutes } from './providers/key-routes';
import { providerRoutes } from './providers/routes';
import { reconcileRoutes } from './reconcile/routes';
import type { ClientOf } from './route-types';
import { runRoutes } from './runs/routes';
import { secretRoutes } from './secrets/routes';
import { identityProviderRoutes } from './sign-on/provider-routes';
import { keepAnswers } from './stats/keep-answers';
import { promptCacheRoutes } from './stats/prompt-cache';
import { statsRoutes } from './stats/routes';
import { sampledRoutes } from './stats/sampled-routes';
import { StatsCache } from './stats/stats-cache';
import { systemRoutes } from './system/routes';
import { statusRoutes } from './system/status-routes';
import { memberRoutes } from './teams/member-routes';
import { organizationRoutes } from './teams/organization-routes';
import { teamRoutes } from './teams/routes';
import { toolCallRoutes } from './tool-calls/routes';
import { meRoutes } from './users/me-routes';
import { userRoutes } from './users/routes';
import { viewRoutes } from './views/routes';

/** Typed routes under `/admin/v1`, for the dashboard's `hc` client. */
export type AdminClient = ClientOf<NonNullable<ReturnType<typeof createApi>['schema']>>;

export function createApi(services: AdminServices, mirror: HotStoreMirror, throttle: SignInThrottle) {
  const kept = new StatsCache(services.stats, services.clock);
  const answer = keepAnswers(kept);
  const forgetCustomers = () => kept.forget('customers');
  return createRouter()
    .route('/', projectRoutes(services, mirror))
    .route('/', keyRoutes(services, mirror))
    .route('/', keyApprovalRoutes(services, mirror))
    .route('/', guardrailRoutes(services, mirror))
    .route('/', guardrailTryoutRoutes(services))
    .route('/', guardrailReplayRoutes(services))
    .route('/', guardrailSecretRoutes(services))
    .route('/', customerRoutes(services, mirror, forgetCustomers))
    .route('/', modelRoutes(services, mirror))
    .route('/', importModelRoutes(services, mirror))
    .route('/', aliasRoutes(services, mirror))
    .route('/', chainRoutes(services, mirror))
    .route('/', providerRoutes(services, mirror))
    .route('/', providerKeyRoutes(services, mirror))
    .route('/', runRoutes(services))
    .route('/', batchRoutes(services))
    .route('/', secretRoutes(services))
    .route('/', backendRoutes(services, mirror))
    .route('/', mcpCheckRoutes(services))
    .route('/', mcpServerRoutes(services, mirror))
    .route('/', mcpToolRoutes(services, mirror))
    .route('/', mcpGrantRoutes(services))
    .route('/', logRoutes(services))
    .route('/', logDatabaseRoutes(services))
    .route('/', liveRoutes(services, kept))
    .route('/', viewRoutes(services))
    .route('/', playgroundRoutes(services))
    .route('/', statsRoutes(services, answer))
    .route('/', sampledRoutes(services, answer))
    .route('/', promptCacheRoutes(services))
    .route('/', toolCallRoutes(services))
    .route('/', reconcileRoutes(services))
    .route('/', cacheRoutes(services))
    .route('/', semanticCacheRoutes(services))
    .route('/', historyRoutes(services))
    .route('/', applyRoutes(services))
    .route('/', tokenRoutes(services))
    .route('/', sessionRoutes(services, throttle))
    .route('/', organizationRoutes(services, mirror))
    .route('/', teamRoutes(services, mirror))
    .route('/', memberRoutes(services, mirror))
    .route('/', userRoutes(services, mirror))
    .route('/', meRoutes(services))
    .route('/', identityProviderRoutes(services, mirror))
    .route('/', budgetRoutes(services))
    .route('/', labelBudgetRoutes(services, mirror))
    .route('/', financeRoutes(services))
    .route('/', customerListRoutes(services, answer))
    .route('/', failoverRoutes(services, answer))
    .route('/', alertRoutes(services, answer))
    .route('/', annotationRoutes(services))
    .route('/', systemRoutes(services))
    .route('/', statusRoutes(services))
    .route('/', demoDataRoutes(services));
}
