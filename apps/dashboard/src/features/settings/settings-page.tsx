import { TabbedCards } from '../../ui/tabbed-cards';
import { PageFrame } from '../shell/page-frame';
import { JobsCard } from './jobs-card';
import { SystemCard } from './system-card';
import { TokensCard } from './tokens-card';

const TABS = [
  ['tokens', 'Access', TokensCard],
  ['jobs', 'Job runs', JobsCard],
  ['system', 'System', SystemCard],
] as const;

export function SettingsPage() {
  return (
    <PageFrame
      title="Access & system"
      intro="Tokens of this API and dashboard, background jobs, and the state of this gateway."
    >
      <TabbedCards label="Access and system" tabs={TABS} />
    </PageFrame>
  );
}
