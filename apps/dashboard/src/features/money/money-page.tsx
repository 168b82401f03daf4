import { useSearch } from '@tanstack/react-router';
import { usePage } from '../../range/use-page';
import { TabbedCards } from '../../ui/tabbed-cards';
import { StatementScope, StatementTab } from '../finance/statement-tab';
import { PageFrame } from '../shell/page-frame';
import { ExploreTab } from '../spend/explore-tab';

const TABS = [
  ['explore', 'Explore', ExploreTab],
  ['statement', 'Statement', StatementTab],
] as const;

/** Where money goes: any range by any group, and the statement of a month. */
export function MoneyPage() {
  const page = usePage();
  const isStatement = useSearch({ from: '/money' }).tab === 'statement';
  return (
    <PageFrame
      title="Spend & statements"
      page={isStatement ? undefined : page}
      hasCharts={!isStatement}
      actions={isStatement && <StatementScope />}
    >
      <TabbedCards label="Spend and statements" tabs={TABS} />
    </PageFrame>
  );
}
