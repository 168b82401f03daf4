import { describe, expect, test } from 'bun:test';
import { ERROR_TABLE } from '@llm0/core/errors/error-table';
import { Validator } from '@seriousme/openapi-schema-validator';
import { createApp } from '../app';
import type { Services } from '../services/contract';
import { buildDataPlaneDocument } from './data-plane-document';
import { showDataPlaneDocument } from './show-document';

interface Described {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, { readonly content?: unknown }>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}
const document = buildDataPlaneDocument('9.9.9') as unknown as Document;
const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
);

/** What the app's patterns stand for in the document. */
const SPELT: Readonly<Record<string, readonly string[]>> = {
  '/v1beta/models/:call{.+:\\w+}': ['generateContent', 'streamGenerateContent', 'countTokens'].map(
    (call) => `/v1beta/models/{model}:${call}`,
  ),
  '/v1/models/:call{.+:\\w+}': ['generateContent', 'streamGenerateContent', 'countTokens'].map(
    (call) => `/v1/models/{model}:${call}`,
  ),
  '/v1/models/:id{.+}': ['/v1/models/{model}'],
  '/passthrough/*': ['/passthrough/{provider}/{path}'],
  '/infer/*': ['/infer/{backend}/{path}'],
};
/** Pages between a user's browser and the gateway, and what refuses all that is not there. */
const NO_API = /^\/mcp\/oauth\/|^\/\.well-known\/|^\/v1beta\/\*$|^\/\*$/;
const OWNERS: Readonly<Record<string, string>> = { responses: 'response', files: 'file', batches: 'batch' };
const spell = (path: string) =>
  SPELT[path] ?? [
    path
      .replace(/^\/v1\/(?:messages\/)?(responses|files|batches)\/:id/, (all, owner: string) =>
        all.replace(':id', `{${OWNERS[owner]}_id}`),
      )
      .replaceAll(/:(\w+)/g, '{$1}'),
  ];

describe('the document of the data plane', () => {
  test('is valid OpenAPI 3.1, with every reference and no name twice', async () => {
    const result = await new Validator().validate(structuredClone(document) as never);
    expect(result.errors ?? []).toEqual([]);
    expect(result.valid).toBe(true);
    const text = JSON.stringify(document);
    for (const [, section = '', name = ''] of text.matchAll(/"#\/components\/(\w+)\/(\w+)"/g)) {
      expect(document.components[section]).toHaveProperty(name);
    }
    const ids = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).map((one) => one.operationId),
    );
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('every documented path is one of the app, and every one of the app is documented', () => {
    // Routes are only named here; no handler runs.
    const { routes } = createApp({} as Services);
    const own = routes
      .filter(({ path }) => !NO_API.test(path))
      .flatMap(({ path, method }) => spell(path).map((plain) => ({ plain, method })));
    const paths = new Set(own.map(({ plain }) => plain));
    expect(Object.keys(document.paths).filter((path) => !paths.has(path))).toEqual([]);
    expect([...paths].filter((path) => !Object.hasOwn(document.paths, path))).toEqual([]);
    const isServed = (call: string) => {
      const [method, path] = call.split(' ');
      return own.some((route) => route.plain === path && (route.method === method || route.method === 'ALL'));
    };
    expect(documented.filter((call) => !isServed(call))).toEqual([]);
    const named = own.filter(({ method }) => method !== 'ALL').map(({ plain, method }) => `${method} ${plain}`);
    expect(named.filter((call) => !documented.includes(call))).toEqual([]);
  });

  test('says that a probe of readiness may be 503, with the same body, and no other probe', () => {
    const responses = (path: string) => document.paths[path]?.get?.responses ?? {};
    for (const path of ['/readyz', '/ready']) {
      expect(Object.keys(responses(path))).toEqual(['200', '503']);
      expect(responses(path)[503]?.content).toEqual(responses(path)[200]?.content);
    }
    expect(Object.keys(responses('/livez'))).toEqual(['200']);
  });

  test('tells every code that a request can end in', () => {
    const told = JSON.stringify(document.components.responses);
    for (const code of Object.keys(ERROR_TABLE)) {
      if (['conflict', 'client_closed'].includes(code)) continue;
      expect(told).toContain(`\`${code}\``);
    }
  });

  test('is the same bytes for all who ask', async () => {
    const [first, second] = await Promise.all([1, 2].map(() => showDataPlaneDocument('1.2.3').text()));
    expect(first).toBe(second as string);
    expect(JSON.parse(first ?? '')).toMatchObject({ openapi: '3.1.0', info: { version: '1.2.3' } });
  });
});
