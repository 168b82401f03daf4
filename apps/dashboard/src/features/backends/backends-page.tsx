import { PageFrame } from '../shell/page-frame';
import { BackendsCard } from './backends-card';

export const BackendsPage = () => (
  <PageFrame title="HTTP backends" intro="Services behind /infer, with the keys, limits and log of this gateway.">
    <BackendsCard />
  </PageFrame>
);
