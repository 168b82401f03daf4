import type { ListedAlert } from '../../api/settings';
import type { Budget } from '../../api/stats';
import { type Bullet, prepareBullet } from '../../charts/bullet/prepare-bullet';
import { formatShare, NOTHING } from '../../format/format-number';
import { outlookOf } from '../finance/cap-outlook';
import { formatFixed } from '../finance/format-fixed';

const CENTS = 2;
const formatCents = (usd: number) => `$${formatFixed(usd, CENTS)}`;

/** A budget as the overview draws it. */
export interface CapLine {
  readonly key: string;
  /** null for organizations, teams and users. */
  readonly projectId: string | null;
  /** Of a customer's limit. */
  readonly customerId: string | null;
  readonly name: string;
  /** `Key in Shop, this month`. */
  readonly owner: string;
  readonly spent: string;
  readonly limit: string;
  readonly share: string;
  /** Of the whole month; a dash without one. */
  readonly forecast: string;
  readonly outlook: string;
  /** Somebody has to act: the money of a project, key or team ends before its period does. */
  readonly isUrgent: boolean;
  readonly bullet: Bullet;
}

/** Budgets by used or expected share, the largest first. */
export function prepareCaps(budgets: readonly Budget[], projectName: (id: string) => string): CapLine[] {
  return budgets
    .toSorted((a, b) => dangerOf(b) - dangerOf(a))
    .map((budget): CapLine => {
      const { scope, period, project_id: projectId, id, name, used_usd: spent, limit_usd: cap, share } = budget;
      const forecast = budget.forecast?.expected_usd ?? null;
      return {
        ...{
          key: `${scope} ${projectId} ${id} ${period}`,
          projectId,
          customerId: scope === 'customer' ? name : null,
          name: scope === 'project' ? projectName(id) : name,
        },
        owner: describeOwner(budget, projectId === null ? null : projectName(projectId)),
        ...{ spent: formatCents(spent), limit: formatCents(cap), share: formatShare(share) },
        forecast: forecast === null ? NOTHING : formatCents(forecast),
        ...describeOutlook(budget),
        bullet: prepareBullet({ spent, cap, forecast }),
      };
    });
}

type FiringAlert = Pick<ListedAlert, 'id' | 'kind' | 'threshold' | 'project_id'>;

/** Urgent budgets by the id of the firing alert that tells of them; null: no alert does. */
export function urgentCaps(
  budgets: readonly Budget[],
  alerts: readonly FiringAlert[],
  projectName: (id: string) => string,
): ReadonlyMap<string | null, readonly CapLine[]> {
  const told = Map.groupBy(budgets, (budget) => alerts.find((alert) => tellsOf(alert, budget))?.id ?? null);
  return new Map([...told].map(([id, own]) => [id, prepareCaps(own, projectName).filter(({ isUrgent }) => isUrgent)]));
}

const tellsOf = (alert: FiringAlert, { share, project_id: projectId }: Budget): boolean =>
  alert.kind === 'budget_share' &&
  share >= alert.threshold &&
  (alert.project_id === null || alert.project_id === projectId);

const dangerOf = ({ limit_usd: cap, share, forecast }: Budget) =>
  Math.max(share, forecast === null || cap === 0 ? 0 : forecast.expected_usd / cap);

const SCOPES = {
  ...{ project: 'Project', key: 'Key', customer: 'Customer', label: 'Label', share: "Share of the team's budget" },
  ...{ organization: 'Organization', team: 'Team', user: 'User' },
} as const;
const PERIODS = { day: 'today', week: 'this week', month: 'this month', total: 'in total' } as const;

function describeOwner({ scope, period }: Budget, projectName: string | null): string {
  const place = scope === 'project' || scope === 'share' || projectName === null ? '' : ` in ${projectName}`;
  return `${SCOPES[scope]}${place}, ${PERIODS[period]}`;
}

/** The words of the finance page; only months are forecast. */
function describeOutlook(budget: Budget): Pick<CapLine, 'outlook' | 'isUrgent'> {
  const { scope, period, used_usd: spent, limit_usd: cap } = budget;
  const hasForecast = scope !== 'label' && scope !== 'share' && budget.project_id !== null;
  // A customer's limit is there to be reached.
  const isOurs = scope !== 'customer';
  if (period !== 'month' || !hasForecast) {
    return { outlook: spent >= cap ? 'Used up' : 'Within its limit', isUrgent: isOurs && spent >= cap };
  }
  const { text, tone } = outlookOf({ ...budget, spent_usd: spent, cap_usd: cap }, false);
  return { outlook: text, isUrgent: isOurs && (tone === 'bad' || tone === 'warn') };
}
