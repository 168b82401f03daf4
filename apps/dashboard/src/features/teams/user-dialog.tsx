import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import type { DialogOf } from '../../ui/dialog';
import { ConfirmButton } from '../forms/confirm-button';
import type { FieldSpec } from '../forms/prepare-form';
import { SpecDialog } from '../forms/spec-form';
import { useSave } from '../forms/use-save';
import { LIMIT_FIELDS } from './level-fields';
import type { User } from './use-teams';

const FIELDS: readonly FieldSpec[] = [{ name: 'name', label: 'Name', kind: 'text', required: true }, ...LIMIT_FIELDS];
const affects = [['users'], ['budgets']];

/** A user: name, limits of all keys, and whether the user may enter. */
export function UserDialog({ of: user, onClose }: DialogOf<User>) {
  const param = { id: user.id };
  const at = api.users[':id'];
  const save = useSave({
    read: () => at.$get({ param }),
    write: (json, options) => at.$patch({ param, json }, options),
    affects,
    done: 'User saved',
  });
  const turn = useChange({ run: () => read(at.$patch({ param, json: { is_active: !user.is_active } })), affects });
  const verb = user.is_active ? 'Deactivate' : 'Activate';
  return (
    <SpecDialog
      title={user.name}
      description="Limits hold for all keys and tokens of the user."
      onClose={onClose}
      specs={FIELDS}
      resource={user}
      submitLabel="Save user"
      change={save}
      onSubmit={(_, edit) => save.mutate(edit, { onSuccess: onClose })}
    >
      <ConfirmButton
        title={`${verb} ${user.name}?`}
        impact={
          user.is_active
            ? 'Open sessions end and keys of this user stop immediately.'
            : 'The user can sign in again. Keys stay stopped until you activate them.'
        }
        confirmLabel={verb}
        change={turn}
        onConfirm={() => turn.mutate(undefined, { onSuccess: onClose })}
      >
        {verb}
      </ConfirmButton>
    </SpecDialog>
  );
}
