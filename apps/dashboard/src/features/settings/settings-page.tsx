import { Tabs } from 'radix-ui';
import { PageFrame } from '../shell/page-frame';
import { AlertsCard } from './alerts-card';
import { AuditCard } from './audit-card';
import { JobsCard } from './jobs-card';
import { SystemCard } from './system-card';
import { TokensCard } from './tokens-card';

const TABS = [
  ['tokens', 'Access', TokensCard],
  ['alerts', 'Alerts', AlertsCard],
  ['audit', 'Audit', AuditCard],
  ['jobs', 'Job runs', JobsCard],
  ['system', 'System', SystemCard],
] as const;

export function SettingsPage() {
  return (
    <PageFrame title="Settings & audit">
      <Tabs.Root defaultValue="tokens">
        <Tabs.List aria-label="Settings" className="mb-4 flex gap-4 overflow-x-auto border-b">
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
