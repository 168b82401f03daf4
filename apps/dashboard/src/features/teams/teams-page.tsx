import { Needed, useMay } from '../../api/session';
import { TabbedCards } from '../../ui/tabbed-cards';
import { PageFrame } from '../shell/page-frame';
import { KeyRequestsCard } from './key-requests-card';
import { OrganizationsCard } from './organizations-card';
import { ProvidersCard } from './providers-card';
import { TeamsCard } from './teams-card';
import { UsersCard } from './users-card';

const TEAMS = ['teams', 'Teams', TeamsCard] as const;
const REQUESTS = ['requests', 'Key requests', KeyRequestsCard] as const;
const TABS = [
  ...[TEAMS, REQUESTS, ['users', 'Users', UsersCard] as const],
  ...[['organizations', 'Organizations', OrganizationsCard] as const, ['sign-on', 'Sign-on', ProvidersCard] as const],
] as const;

/** Teams of the person; users and identity providers for admins of the gateway. */
export function TeamsPage() {
  const isAdmin = useMay('change_system');
  const mayDecide = useMay('change_keys');
  return (
    <PageFrame title="Teams & people" intro="Teams own projects, and people get their rights from teams.">
      <Needed value="change_members">
        <TabbedCards label="Teams and people" tabs={isAdmin ? TABS : mayDecide ? [TEAMS, REQUESTS] : [TEAMS]} />
      </Needed>
    </PageFrame>
  );
}
