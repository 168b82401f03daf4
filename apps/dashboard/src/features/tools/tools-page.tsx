import { useChoice } from '../../range/use-choice';
import { usePage } from '../../range/use-page';
import { TabbedCards } from '../../ui/tabbed-cards';
import { PageFrame } from '../shell/page-frame';
import { CallsCard } from './calls-card';
import { ConsoleCard } from './console-card';
import { ServersCard } from './servers-card';
import { UseCharts } from './use-charts';

const TABS = [
  ['servers', 'Servers', ServersCard],
  ['calls', 'Calls', CallsCard],
  ['usage', 'Usage', UseCharts],
  ['code', 'Code Mode', ConsoleCard],
] as const;

export function ToolsPage() {
  const page = usePage();
  const [tab] = useChoice('tab', ['servers', 'calls', 'usage', 'code']);
  return (
    <PageFrame
      title="Tools"
      intro="MCP servers whose tools your keys may call."
      page={tab === 'code' ? undefined : page}
    >
      <TabbedCards label="Tools" tabs={TABS} />
    </PageFrame>
  );
}
