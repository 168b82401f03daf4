import { usePage } from '../../range/use-page';
import { TabbedCards } from '../../ui/tabbed-cards';
import { PageFrame } from '../shell/page-frame';
import { BenchCard } from './bench-card';
import { HitsCharts } from './hits-charts';
import { PolicyCard } from './policy-card';

const TABS = [
  ['policy', 'Policy', PolicyCard],
  ['bench', 'Bench', BenchCard],
  ['hits', 'Hits', HitsCharts],
] as const;

export function GuardrailsPage() {
  return (
    <PageFrame title="Guardrails" intro="What may go to a vendor, and what may come back." page={usePage()}>
      <TabbedCards label="Guardrails" tabs={TABS} />
    </PageFrame>
  );
}
