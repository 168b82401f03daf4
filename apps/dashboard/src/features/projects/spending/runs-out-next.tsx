import type { ReactNode } from 'react';
import { type Place, PlaceLink } from '../../../ui/place-link';
import type { NextBudget } from './prepare-outlooks';
import type { useOutlooks } from './use-outlooks';

interface Props {
  readonly budgets: Pick<ReturnType<typeof useOutlooks>, 'scope' | 'isReady' | 'next' | 'hasBudgets'>;
  readonly linkOf: (budget: NextBudget) => Place;
}

/** The budgets that run out next, in a sentence. Its line is there from the beginning: nothing moves. */
export function RunsOutNext({ budgets: { scope, isReady, next, hasBudgets }, linkOf }: Props) {
  if (!isReady) return <Line>{'\u00a0'}</Line>;
  if (!hasBudgets) return <Line>No {scope} has a budget yet.</Line>;
  if (next.length === 0) return <Line>No {scope}'s budget is expected to run out this month.</Line>;
  return (
    <Line>
      {next.map((budget, index) => (
        <span key={budget.owner}>
          {index === 0 ? 'Runs out next: ' : ', '}
          <PlaceLink
            {...linkOf(budget)}
            className="rounded font-medium text-text wrap-anywhere hover:underline"
            title={budget.outlook.text}
          >
            {budget.name}
          </PlaceLink>{' '}
          ({budget.outlook.short})
        </span>
      ))}
    </Line>
  );
}

const Line = ({ children }: { readonly children: ReactNode }) => (
  <p className="border-b px-4 py-2 text-muted">{children}</p>
);
