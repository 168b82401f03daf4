import { Tabs } from 'radix-ui';
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
    <PageFrame title="Routing" intro="Where a model name may be answered, and what stands in when it cannot.">
      <Tabs.Root defaultValue="providers">
        <Tabs.List aria-label="Routing" className="mb-4 flex gap-4 overflow-x-auto border-b">
          {TABS.map(([value, label]) => (
            <Tabs.Trigger
              key={value}
              value={value}
              className="-mb-px border-b-2 border-transparent px-0.5 py-1.5 whitespace-nowrap text-muted hover:text-text data-[state=active]:border-accent data-[state=active]:font-medium data-[state=active]:text-text"
            >
              {label}
            </Tabs.Trigger>
          ))}
        </Tabs.List>
        {TABS.map(([value, , Content]) => (
          <Tabs.Content key={value} value={value}>
            <Content />
          </Tabs.Content>
        ))}
      </Tabs.Root>
    </PageFrame>
  );
}
