import { type FormEvent, useState } from 'react';
import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import { useProjects } from '../../api/projects';
import { Button } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { ErrorState } from '../../ui/error-state';
import { SelectField, TextField } from '../../ui/field';

interface Props {
  readonly projectId: string | undefined;
  readonly onClose: () => void;
}

/** Removes cached answers that meet all conditions; at least one is needed. */
export function PurgeDialog({ projectId, onClose }: Props) {
  const projects = useProjects();
  const [project, setProject] = useState(projectId ?? '');
  const [model, setModel] = useState('');
  const [hours, setHours] = useState('');
  const purge = useChange({
    run: () =>
      read(
        api.cache.purge.$post({
          json: {
            ...(project === '' ? {} : { project_id: project }),
            ...(model.trim() === '' ? {} : { model: model.trim() }),
            ...(hours === '' ? {} : { older_than_seconds: Math.round(Number(hours) * 3600) }),
          },
        }),
      ),
    affects: [['cache']],
    done: (removed) => `${removed.exact} exact and ${removed.semantic} semantic answers removed`,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    purge.mutate(undefined, { onSuccess: onClose });
  };
  const hasCondition = project !== '' || model.trim() !== '' || hours !== '';
  return (
    <Dialog
      title="Purge the cache"
      description="Answers that meet all conditions are removed; the next request goes upstream."
      open
      onClose={onClose}
    >
      <form className="grid gap-3" onSubmit={submit}>
        <SelectField label="Project" value={project} onChange={(event) => setProject(event.target.value)}>
          <option value="">every project</option>
          {projects.data?.data.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </SelectField>
        <TextField
          label="Model"
          placeholder="every model"
          value={model}
          onChange={(event) => setModel(event.target.value)}
        />
        <TextField
          label="Older than, hours"
          placeholder="any age"
          inputMode="decimal"
          pattern="\d+(\.\d+)?"
          value={hours}
          onChange={(event) => setHours(event.target.value)}
        />
        {purge.error && <ErrorState error={purge.error} />}
        <div className="flex justify-end">
          <Button type="submit" kind="danger" disabled={!hasCondition || purge.isPending}>
            {hasCondition ? 'Purge these answers' : 'Give a condition'}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
