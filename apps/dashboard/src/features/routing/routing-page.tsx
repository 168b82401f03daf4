import { TabbedCards } from '../../ui/tabbed-cards';
import { PageFrame } from '../shell/page-frame';
import { AliasesCard } from './aliases-card';
import { ChainsCard } from './chains-card';
import { FailoversCard } from './failovers-card';
import { ProvidersCard } from './providers-card';

const TABS = [
  ['providers', 'Providers', ProvidersCard],
  ['chains', 'Fallback chains', ChainsCard],
  ['aliases', 'Aliases', AliasesCard],
  ['failovers', 'Failover log', FailoversCard],
] as const;

export function RoutingPage() {
  return (
    <PageFrame title="Routing" intro="Where requests for each model go, and what they fall back to when it fails.">
      <TabbedCards label="Routing" tabs={TABS} />
    </PageFrame>
  );
}
