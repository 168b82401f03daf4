import type { Command } from './prepare-palette';

interface Named {
  readonly id: string;
  readonly name: string;
}

/** What is found by its name; absent while it is unknown, or not the session's to read. */
export interface NamedThings {
  readonly alerts?: readonly (Named & { readonly firing: unknown })[];
  readonly chains?: readonly Pick<Named, 'name'>[];
  readonly teams?: readonly Named[];
  readonly users?: readonly (Named & { readonly email: string | null })[];
}

/** Opens each where it is changed. */
export const toNamed = ({ alerts = [], chains = [], teams = [], users = [] }: NamedThings): readonly Command[] => [
  ...alerts.map(
    ({ id, name, firing }): Command => ({
      ...{ id: `alert ${id}`, kind: 'alert', label: name, note: firing === null ? undefined : 'firing' },
      ...{ to: '/alerts', search: { open: id } },
    }),
  ),
  ...chains.map(
    ({ name }): Command => ({
      ...{ id: `chain ${name}`, kind: 'chain', label: name, words: 'fallback' },
      ...{ to: '/routing', search: { tab: 'chains', open: name } },
    }),
  ),
  ...teams.map(
    ({ id, name }): Command => ({
      ...{ id: `team ${id}`, kind: 'team', label: name, to: '/teams', search: { open: id } },
    }),
  ),
  ...users.map(
    ({ id, name, email }): Command => ({
      ...{ id: `user ${id}`, kind: 'user', label: name, note: email ?? undefined },
      ...{ to: '/teams', search: { tab: 'users', open: id } },
    }),
  ),
];
