import type { ChangedMeanwhile } from '../../api/save-changes';
import { NOTHING } from '../../format/format-number';
import { Button } from '../../ui/button';
import { type FieldSpec, type FormValues, fillForm } from './prepare-form';

interface Props {
  readonly specs: readonly FieldSpec[];
  readonly conflict: ChangedMeanwhile;
  /** Continues from the current state, with the other user's fields if given. */
  readonly onTake: (theirs?: FormValues) => void;
}

/** Both versions of a conflicting change, for the user to choose. */
export function ConflictNote({ specs, conflict, onTake }: Props) {
  const disputed = specs.filter(({ name }) => conflict.conflicts.some((one) => one.name === name));
  const theirs = fillForm(disputed, conflict.current);
  const mine = fillForm(disputed, Object.fromEntries(conflict.conflicts.map((one) => [one.name, one.mine])));
  const show = (values: FormValues, { name, options }: FieldSpec) => {
    const text = String(values[name] ?? '');
    return text === '' ? NOTHING : (options?.[text] ?? text);
  };
  return (
    <div role="alert" className="grid gap-2 rounded-md bg-warn-soft px-3 py-2 text-warn">
      <p>
        Someone else changed this while you were editing. Nothing has been saved yet: choose a version, then save again.
      </p>
      <table className="w-full text-left text-text">
        <thead className="text-xs text-muted">
          <tr>
            <th scope="col">Field</th>
            <th scope="col">Yours</th>
            <th scope="col">Theirs</th>
          </tr>
        </thead>
        <tbody>
          {disputed.map((spec) => (
            <tr key={spec.name}>
              <th scope="row" className="font-normal">
                {spec.label}
              </th>
              <td className="wrap-anywhere">{show(mine, spec)}</td>
              <td className="wrap-anywhere">{show(theirs, spec)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <div className="flex gap-2">
        <Button size="small" onClick={() => onTake(theirs)}>
          Use theirs
        </Button>
        <Button size="small" onClick={() => onTake()}>
          Keep mine
        </Button>
      </div>
    </div>
  );
}
