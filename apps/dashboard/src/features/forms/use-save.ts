import { type ChangeOptions, useChange } from '../../api/change';
import { type Saving, saveChanges } from '../../api/save-changes';
import type { Edit } from './spec-form';

type Write<Shown extends object, T> = Saving<Shown, T>['write'];

interface SaveOptions<Shown extends object, T>
  extends Omit<ChangeOptions<Edit, T>, 'run'>,
    Pick<Saving<Shown, T>, 'read' | 'asFields'> {
  readonly write: (changes: Edit['changes'], options: Parameters<Write<Shown, T>>[0]) => ReturnType<Write<Shown, T>>;
}

/** Saves the changed fields of a form, unless another user changed the same ones. */
export const useSave = <Shown extends object, T>({ read, write, asFields, ...change }: SaveOptions<Shown, T>) =>
  useChange({
    run: (edit: Edit) =>
      saveChanges({
        ...{ ...edit, read, ...(asFields && { asFields }) },
        write: (options) => write(edit.changes, options),
      }),
    ...change,
  });
