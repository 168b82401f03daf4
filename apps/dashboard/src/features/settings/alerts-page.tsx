import { PageFrame } from '../shell/page-frame';
import { AlertsCard } from './alerts-card';

export const AlertsPage = () => (
  <PageFrame title="Alerts" intro="Messages to a webhook, for example when a budget runs low or errors pile up.">
    <AlertsCard />
  </PageFrame>
);
