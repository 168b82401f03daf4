import { usePage } from '../../range/use-page';
import { PageFrame } from '../shell/page-frame';
import { BackendsCard } from './backends-card';

export function BackendsPage() {
  const page = usePage();
  return (
    <PageFrame
      title="HTTP backends"
      intro="Services behind /infer, with the keys, limits and log of this gateway."
      page={page}
    >
      <BackendsCard page={page} />
    </PageFrame>
  );
}
