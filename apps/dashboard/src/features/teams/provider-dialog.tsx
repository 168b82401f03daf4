import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import { saveChanges } from '../../api/save-changes';
import type { DialogOf } from '../../ui/dialog';
import { ConfirmButton } from '../forms/confirm-button';
import type { FieldSpec } from '../forms/prepare-form';
import { type Edit, SpecDialog } from '../forms/spec-form';
import { GroupRolesField } from './group-roles-field';
import type { IdentityProvider, IdentityProviderInput } from './use-teams';

/** `OIDC_ISSUER` sets these. */
const CLIENT_FIELDS: readonly FieldSpec[] = [
  { name: 'name', label: 'Name', kind: 'text', required: true, hint: 'On the sign-in button' },
  { name: 'issuer', label: 'Issuer', kind: 'text', required: true, placeholder: 'https://login.example.com' },
  { name: 'client_id', label: 'Client ID', kind: 'text', required: true },
];
const secretField = (of: IdentityProvider | null): FieldSpec => ({
  ...{ name: 'client_secret', label: 'Client secret', kind: 'text', secret: true },
  hint: of?.has_client_secret === true ? 'Leave empty to keep the present one' : 'Leave empty for a public client',
});
const OTHER_FIELDS: readonly FieldSpec[] = [
  {
    ...{ name: 'audience', label: 'Audience of tokens', kind: 'text' },
    hint: 'Signed tokens (JWT) with this audience work in place of keys; empty = none do',
  },
  {
    ...{ name: 'group_roles', label: 'Roles by group', kind: 'text', isWide: true, widget: GroupRolesField },
    ...{
      show: JSON.stringify,
      read: JSON.parse,
      hint: 'Set at each sign-in. Of several roles in a team, the first holds.',
    },
  },
];
const fieldsOf = (of: IdentityProvider | null) =>
  of?.is_from_environment === true ? OTHER_FIELDS : [...CLIENT_FIELDS, secretField(of), ...OTHER_FIELDS];

const asFields = (of: IdentityProvider) => ({ ...of, audience: of.jwt?.audience ?? null });

/** What the form left empty stays as it is, except for the audience. */
function toInput({ audience, ...rest }: Readonly<Record<string, unknown>>, before: IdentityProvider | null) {
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null));
  if (audience === undefined) return given;
  return { ...given, jwt: audience === null ? null : { ...before?.jwt, audience } };
}

/** An identity provider, to be added, changed or removed. */
export function ProviderDialog({ of: provider, onClose }: DialogOf<IdentityProvider | null>) {
  const { save, remove } = useProviderChanges(provider);
  return (
    <SpecDialog
      title={provider === null ? 'Add identity provider' : provider.name}
      description={`Callback address: ${location.origin}/auth/callback`}
      onClose={onClose}
      specs={fieldsOf(provider)}
      resource={provider && asFields(provider)}
      submitLabel={provider === null ? 'Add provider' : 'Save provider'}
      change={save}
      onSubmit={(body, edit) => save.mutate({ body, edit }, { onSuccess: onClose })}
    >
      {provider !== null && !provider.is_from_environment && (
        <ConfirmButton
          title={`Remove ${provider.name}?`}
          impact="Its sessions end, and the roles that its groups gave. This cannot be undone."
          confirmLabel="Remove provider"
          change={remove}
          onConfirm={() => remove.mutate(undefined, { onSuccess: onClose })}
        >
          Remove provider
        </ConfirmButton>
      )}
    </SpecDialog>
  );
}

interface Saved {
  readonly body: Record<string, unknown>;
  readonly edit: Edit;
}

function useProviderChanges(provider: IdentityProvider | null) {
  const param = { id: provider?.id ?? '' };
  const affects = [['identity-providers'], ['sign-in-choices']];
  const routes = api['identity-providers'];
  const save = useChange({
    run: ({ body, edit }: Saved) =>
      provider === null
        ? read(routes.$post({ json: toInput(body, null) as IdentityProviderInput }))
        : saveChanges({
            ...{ ...edit, asFields },
            read: () => routes[':id'].$get({ param }),
            write: (options, now) => routes[':id'].$patch({ param, json: toInput(edit.changes, now) }, options),
          }),
    affects,
    done: provider === null ? 'Identity provider added' : 'Identity provider saved',
  });
  const remove = useChange({ run: () => routes[':id'].$delete({ param }), affects, done: 'Identity provider removed' });
  return { save, remove };
}
