import { lazy, Suspense, useState } from 'react';
import { RangePicker } from '../../../range/range-picker';
import { usePage } from '../../../range/use-page';
import { loadPage } from '../../shell/load-page';
import type { TabProps } from './settings-tabs';

/** The editor of policies is large, and most visits of a project don't need it. */
const loadPolicy = async () => {
  const { ProjectPolicy } = await loadPage(() => import('../../guardrails/policy-card'));
  return { default: ProjectPolicy };
};

export function GuardrailsTab({ project }: TabProps) {
  const page = usePage();
  // A load that failed is tried again when the tab opens again.
  const [Policy] = useState(() => lazy(loadPolicy));
  return (
    <div className="grid gap-4">
      <div className="flex justify-end">
        <RangePicker page={page} />
      </div>
      <Suspense fallback={<div className="h-60 rounded-lg border bg-panel" aria-busy="true" />}>
        <Policy projectId={project.id} />
      </Suspense>
    </div>
  );
}
