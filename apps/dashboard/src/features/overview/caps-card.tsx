import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useProjectNames } from '../../api/projects';
import { useTightBudgets } from '../../api/stats';
import { BulletBar, BulletLegend } from '../../charts/bullet/bullet-bar';
import { Card } from '../../ui/card';
import { EmptyState } from '../../ui/empty-state';
import { Failure } from '../../ui/error-state';
import { type Place, PlaceLink } from '../../ui/place-link';
import { FiguresTable } from '../../ui/table/figures-table';
import { type CapLine, prepareCaps } from './prepare-caps';

/** Where banners lead. */
export const BUDGETS = 'budgets';
/** Of the tightest budgets, so many at first. */
const SHOWN = 5;
/** Height of five budgets: nothing moves when they arrive. Their texts wrap on phones. */
const RESERVED = 'min-h-92 sm:min-h-71';

/** Caps, key budgets and customer limits that are nearest to their end, with forecasts. */
export function CapsCard({ projectId }: { readonly projectId: string | undefined }) {
  const budgets = useTightBudgets(projectId);
  const projectName = useProjectNames();
  const lines = useMemo(() => budgets.data && prepareCaps(budgets.data.data, projectName), [budgets.data, projectName]);
  const [isWhole, setIsWhole] = useState(false);
  return (
    <Card
      id={BUDGETS}
      title="Budgets closest to their limit"
      actions={
        <Link
          to="/money"
          search={{ tab: 'statement' }}
          className="touch-line rounded px-1 text-xs text-muted hover:text-text"
        >
          Monthly statement
        </Link>
      }
    >
      <div className={RESERVED}>
        <Failure of={budgets} />
        {lines === undefined && budgets.error === null && (
          <div className={`rounded bg-hover/60 ${RESERVED}`} aria-busy="true" />
        )}
        {lines?.length === 0 && (
          <EmptyState title="No budgets yet">
            Set a monthly cap on a project, a budget on a key or a limit on a customer to see it here.
          </EmptyState>
        )}
        <ul className={`grid content-evenly gap-2 ${lines === undefined || lines.length === 0 ? '' : RESERVED}`}>
          {lines?.slice(0, isWhole ? undefined : SHOWN).map((line) => (
            <li key={line.key} className="min-w-0">
              <Cap line={line} />
            </li>
          ))}
        </ul>
      </div>
      <div className="mt-2 flex flex-wrap items-center justify-between gap-x-4 gap-y-1 text-2xs text-muted">
        <BulletLegend />
        {lines !== undefined && lines.length > SHOWN && (
          <button type="button" className="touch-line rounded text-xs underline" onClick={() => setIsWhole(!isWhole)}>
            {isWhole ? 'Show fewer' : `Show ${lines.length - SHOWN} more`}
          </button>
        )}
      </div>
      {lines !== undefined && lines.length > 0 && (
        <FiguresTable
          caption="Budgets in figures"
          heads={HEADS}
          rows={lines.map((line) => ({ key: line.key, cells: cellsOf(line) }))}
        />
      )}
    </Card>
  );
}

function placeOf({ projectId, customerId }: CapLine): Place {
  if (projectId === null) return { to: '/teams' };
  if (customerId === null) return { to: '/projects/$projectId', params: { projectId } };
  return { to: '/customers', search: (kept) => ({ ...kept, open: `${projectId} ${customerId}` }) };
}

function Cap({ line }: { readonly line: CapLine }) {
  const { name, owner, spent, limit, share, forecast, outlook, bullet } = line;
  return (
    <PlaceLink {...placeOf(line)} className="block rounded-md hover:bg-hover">
      <span className="flex items-baseline justify-between gap-x-3">
        <span className="min-w-0 wrap-anywhere sm:truncate" title={`${name}: ${owner}`}>
          <span className="font-medium">{name}</span> <span className="text-xs text-muted">{owner}</span>
        </span>
        <span className="nums shrink-0 text-xs">
          {spent} of {limit}
        </span>
      </span>
      <BulletBar {...bullet} />
      <span className="flex items-baseline justify-between gap-x-3 text-xs text-muted">
        <span className={`min-w-0 wrap-anywhere sm:truncate ${bullet.passes === null ? '' : 'text-bad'}`}>
          {outlook}
        </span>
        <span className="nums shrink-0">
          {bullet.forecast !== null && `forecast ${forecast}`}
          <span className={bullet.forecast === null ? '' : 'max-sm:hidden'}>
            {bullet.forecast !== null && ', '}
            {share} used
          </span>
        </span>
      </span>
    </PlaceLink>
  );
}

const HEADS = ['Budget', 'Applies to', 'Spent', 'Limit', 'Used', 'Forecast', 'Outlook'];

const cellsOf = ({ name, owner, spent, limit, share, forecast, outlook }: CapLine): readonly string[] => [
  name,
  owner,
  spent,
  limit,
  share,
  forecast,
  outlook,
];
