import { TabbedCards } from '../../ui/tabbed-cards';
import { BackendsCard } from '../backends/backends-card';
import { PageFrame } from '../shell/page-frame';
import { AlertsCard } from './alerts-card';
import { AuditCard } from './audit-card';
import { JobsCard } from './jobs-card';
import { SystemCard } from './system-card';
import { TokensCard } from './tokens-card';

const TABS = [
  ['tokens', 'Access', TokensCard],
  ['alerts', 'Alerts', AlertsCard],
  ['backends', 'HTTP backends', BackendsCard],
  ['audit', 'Audit', AuditCard],
  ['jobs', 'Job runs', JobsCard],
  ['system', 'System', SystemCard],
] as const;

export function SettingsPage() {
  return (
    <PageFrame title="Settings & audit">
      <TabbedCards label="Settings" tabs={TABS} />
    </PageFrame>
  );
}
