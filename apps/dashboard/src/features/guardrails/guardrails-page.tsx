import { useChoice } from '../../range/use-choice';
import { usePage } from '../../range/use-page';
import { TabbedCards } from '../../ui/tabbed-cards';
import { PageFrame } from '../shell/page-frame';
import { BenchCard } from './bench-card';
import { useShownProject } from './choose-project';
import { HitsCharts } from './hits-charts';
import { PolicyCard } from './policy-card';

const TABS = [
  ['policy', 'Policy', PolicyCard],
  ['bench', 'Bench', BenchCard],
  ['hits', 'Hits', HitsCharts],
] as const;

export function GuardrailsPage() {
  const page = usePage();
  const [tab] = useChoice('tab', ['policy', 'bench', 'hits']);
  const projectId = useShownProject();
  // Hits may be those of all projects.
  const isOfOne = tab !== 'hits' && projectId !== undefined;
  return (
    <PageFrame
      title="Guardrails"
      intro="What may go to a vendor, and what may come back."
      page={isOfOne ? { ...page, projectId } : page}
      needsProject={isOfOne}
    >
      <TabbedCards label="Guardrails" tabs={TABS} />
    </PageFrame>
  );
}
