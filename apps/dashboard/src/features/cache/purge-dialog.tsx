import { useState } from 'react';
import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import { useProjectOptions } from '../../api/projects';
import { Button } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { Failure } from '../../ui/error-state';
import { Form, SelectField, TextField } from '../../ui/form';

interface Props {
  readonly projectId: string | undefined;
  readonly onClose: () => void;
}

/** Removes cached answers that meet all conditions; at least one is needed. */
export function PurgeDialog({ projectId, onClose }: Props) {
  const projects = useProjectOptions();
  const [project, setProject] = useState(projectId ?? '');
  const [model, setModel] = useState('');
  const [hours, setHours] = useState('');
  const json = {
    ...(project === '' ? {} : { project_id: project }),
    ...(model.trim() === '' ? {} : { model: model.trim() }),
    ...(hours === '' ? {} : { older_than_seconds: Math.round(Number(hours) * 3600) }),
  };
  const purge = useChange({
    run: () => read(api.cache.purge.$post({ json })),
    affects: [['cache']],
    done: (removed) => `${removed.exact} exact and ${removed.semantic} semantic answers removed`,
  });
  const hasCondition = Object.keys(json).length > 0;
  return (
    <Dialog
      title="Purge the cache"
      description="Removes the cached answers that match every condition. The next such request goes to a provider."
      onClose={onClose}
    >
      <Form onSubmit={() => purge.mutate(undefined, { onSuccess: onClose })}>
        <SelectField label="Project" anyLabel="every project" options={projects} value={project} onValue={setProject} />
        <TextField label="Model" placeholder="every model" value={model} onValue={setModel} />
        <TextField
          label="Older than, hours"
          placeholder="any age"
          inputMode="decimal"
          pattern="\d+(\.\d+)?"
          value={hours}
          onValue={setHours}
        />
        <Failure of={purge} />
        <div className="flex justify-end">
          <Button type="submit" kind="danger" disabled={!hasCondition || purge.isPending}>
            {hasCondition ? 'Purge these answers' : 'Set a condition first'}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
