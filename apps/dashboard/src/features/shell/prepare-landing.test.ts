import { expect, test } from 'bun:test';
import { ROLE_TABLE, ROLES } from '@llm0/core/access/roles';
import { landingOf } from './prepare-landing';

test.each([
  ['system_admin', '/'],
  ['org_admin', '/'],
  ['team_admin', '/'],
  ['member', '/'],
  ['viewer', '/'],
  ['auditor', '/requests'],
  ['billing', '/money'],
] as const)('%s lands on %s', (role, to) => {
  const { permissions } = ROLE_TABLE[role];
  expect(landingOf(permissions, '/')).toEqual(to === '/' ? { kind: 'shown' } : { kind: 'elsewhere', to });
  expect(landingOf(permissions, to)).toEqual({ kind: 'shown' });
  expect(ROLES).toContain(role);
});

test('a page of another role says so; nobody without a role is led in a circle', () => {
  const { permissions } = ROLE_TABLE.billing;
  const first = { to: '/money', label: 'Spend & statements' };
  expect(landingOf(permissions, '/settings/tokens')).toEqual({ kind: 'forbidden', label: 'Access & system', first });
  expect(landingOf(permissions, '/nowhere')).toEqual({ kind: 'shown' });
  for (const path of ['/', '/money', '/nowhere']) expect(landingOf([], path)).toEqual({ kind: 'no_role' });
});
