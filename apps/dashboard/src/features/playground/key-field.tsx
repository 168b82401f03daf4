import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import { useProjects } from '../../api/projects';
import { useMayChange } from '../../api/session';
import { Button } from '../../ui/button';
import { TextField } from '../../ui/form';

const KEY_HOURS = 24;
const KEY_BUDGET_USD = '1';

interface Props {
  readonly value: string;
  readonly onValue: (key: string) => void;
}

/** A key is pasted, or made for a day; it stays in this page's memory only. */
export function KeyField({ value, onValue }: Props) {
  const mayChange = useMayChange();
  const project = useProjects().data?.data.at(-1);
  const create = useChange({
    run: () => {
      const json = {
        name: 'playground',
        budget_usd: KEY_BUDGET_USD,
        expires_at: new Date(Date.now() + KEY_HOURS * 3_600_000).toISOString(),
      };
      return read(api.projects[':id'].keys.$post({ param: { id: project?.id ?? '' }, json }));
    },
    affects: [['keys']],
    done: `A key for ${KEY_HOURS} hours and $${KEY_BUDGET_USD} was made in ${project?.name}`,
  });
  return (
    <div className="grid gap-1.5">
      <TextField
        label="Key"
        type="password"
        autoComplete="off"
        placeholder="llm0_live_…"
        value={value}
        hint="Stays in this page only"
        error={create.error?.message}
        onValue={(text) => onValue(text.trim())}
      />
      {value === '' && mayChange && project !== undefined && (
        <div>
          <Button
            size="small"
            disabled={create.isPending}
            onClick={() => create.mutate(undefined, { onSuccess: ({ key }) => onValue(key) })}
          >
            Make one for a day
          </Button>
        </div>
      )}
    </div>
  );
}
