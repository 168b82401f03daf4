import type { AnswerFrom, SentTo } from '@llm0/gateway/admin/route-types';
import { useQuery } from '@tanstack/react-query';
import { api, read, readOrNull } from './client';
import { saveChanges } from './save-changes';

export type Model = AnswerFrom<typeof api.models.$get>['data'][number];
/** A model as lists show it; its dialog asks for all of it. */
export type ListedModel = Pick<Model, (typeof LISTED)[number]>;
export type ModelImport = SentTo<typeof api.models.import.$post>['json'];
export type ModelInput = SentTo<typeof api.models.$put>['json'];

const PAGE = '1000';
/** The catalogue has some 1,500 models; far more are searched, not listed. */
const MAX_PAGES = 5;

/** Fields of the list, which is most of what a page with model names loads. */
const LISTED = [
  ...(['provider', 'model', 'input_usd_per_million', 'output_usd_per_million', 'cache_read_usd_per_million'] as const),
  ...(['context_window', 'capabilities', 'deprecation_date', 'edited'] as const),
] as const;
const FIELDS = LISTED.join(',');

/** All priced models. */
export const useModels = () =>
  useQuery({
    queryKey: ['models'],
    queryFn: async () => {
      const models: ListedModel[] = [];
      let cursor: string | null = null;
      for (let page = 0; page < MAX_PAGES; page++) {
        const query = { limit: PAGE, fields: FIELDS, ...(cursor === null ? {} : { cursor }) };
        const answer: { data: ListedModel[]; next_cursor: string | null } = await read(api.models.$get({ query }));
        models.push(...answer.data);
        cursor = answer.next_cursor;
        if (cursor === null) break;
      }
      return models;
    },
    staleTime: 60_000,
  });

/** Models whose vendor retires them before a UTC day, `2026-12-03`. */
export const useRetiring = (before: string) =>
  useQuery({
    queryKey: ['models', 'retiring', before],
    queryFn: () =>
      read(api.models.$get({ query: { limit: PAGE, fields: RETIRING.join(','), retires_before: before } })),
    staleTime: 60_000,
  });
const RETIRING = ['provider', 'model', 'deprecation_date'] as const;
/** A model of that list. */
export type Retiring = Pick<Model, (typeof RETIRING)[number]>;

export const useUnpriced = () =>
  useQuery({ queryKey: ['models', 'unpriced'], queryFn: () => read(api.models.unpriced.$get()), staleTime: 60_000 });

/** Sets many prices at once; `dry_run` only reports the changes. */
export const importModels = (json: ModelImport) => read(api.models.import.$post({ json }));

/** Sets the price of one model; ignores the other fields of `at`. */
export const putModel = ({ provider, model }: { provider: string; model: string }, json: ModelInput) =>
  read(api.models.$put({ query: { provider, model }, json }));

const pathOf = ({ provider, model }: { provider: string; model: string }) => ({
  provider: encodeURIComponent(provider),
  model: encodeURIComponent(model),
});

const one = api.models[':provider'][':model'];

/** One model, listed or not; null without a price. */
export const findModel = (at: { provider: string; model: string }): Promise<Model | null> =>
  at.provider === '' || at.model === '' ? Promise.resolve(null) : readOrNull(one.$get({ param: pathOf(at) }));

/** Sets changed prices unless another user changed them as well. */
export const changeModel = (at: { provider: string; model: string }, edit: { opened: object; changes: object }) => {
  const param = pathOf(at);
  return saveChanges({
    ...edit,
    read: () => one.$get({ param }),
    write: (options) => one.$patch({ param, json: edit.changes as Partial<ModelInput> }, options),
  });
};
