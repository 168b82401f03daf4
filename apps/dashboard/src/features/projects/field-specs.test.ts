import { expect, test } from 'bun:test';
import { newKeySchema } from '@llm0/gateway/admin/keys/schema';
import { newProjectSchema } from '@llm0/gateway/admin/projects/schema';
import { FieldError, fillForm, readForm } from '../forms/prepare-form';
import { KEY_FIELDS, PROJECT_FIELDS } from './field-specs';

test.each([
  ['projects', PROJECT_FIELDS],
  ['keys', KEY_FIELDS],
])('labels of %s are names and values, there and back', (_name, fields) => {
  const specs = fields.filter(({ name }) => name === 'labels');
  const labels = { team: 'search', 'cost-center': '47 11' };
  const filled = fillForm(specs, { labels });
  expect(filled).toEqual({ labels: 'team=search, cost-center=47 11' });
  expect(readForm(specs, filled)).toEqual({ labels });
  expect(readForm(specs, fillForm(specs, { labels: null }))).toEqual({ labels: null });
  for (const wrong of ['team', 'Team=x', 'team=', 'team=x,']) {
    expect(() => readForm(specs, { labels: wrong })).toThrow(FieldError);
  }
});

test.each([
  ['projects', PROJECT_FIELDS, newProjectSchema],
  ['keys', KEY_FIELDS, newKeySchema],
] as const)('the form of %s asks for nothing that the API refuses', (_name, fields, schema) => {
  expect(fields.map(({ name }) => name).filter((name) => !(name in schema.shape))).toEqual([]);
});
