import { createApi } from '@llm0/gateway/admin/create-api';
import { buildOpenApi } from '@llm0/gateway/admin/system/openapi-document';
import { code, type ReferencePage, sentence, table } from './table';

interface Operation {
  readonly summary?: string;
  readonly tags?: readonly string[];
}

type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

/** Routes are made, and none is called. */
const NOBODY: never = new Proxy((() => {}) as object, { get: () => NOBODY, apply: () => NOBODY }) as never;

export function adminApiPage(): ReferencePage {
  const { paths } = buildOpenApi(createApi(NOBODY, NOBODY, NOBODY), '') as { readonly paths: Paths };
  const rows = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { summary = '', tags = [] }]) => ({
      tag: tags[0] ?? 'other',
      row: [code(`${method.toUpperCase()} ${path}`), sentence(summary)],
    })),
  );
  const parts = [...Map.groupBy(rows, ({ tag }) => tag)].map(
    ([tag, all]) =>
      `## ${sentence(tag)}\n${table(
        ['request', 'effect'],
        all.map(({ row }) => row),
      )}`,
  );
  return {
    title: 'Admin API',
    purpose: 'Every route under `/admin/v1`.',
    body: `${INTRO}\n\n${parts.join('\n\n')}`,
  };
}

const INTRO = `\`\`\`sh
curl http://127.0.0.1:8080/admin/v1/projects -H "Authorization: Bearer $ADMIN_TOKEN" -H "Content-Type: application/json" \\
  -d '{"name":"search","monthly_cap_usd":500}'
curl http://127.0.0.1:8080/admin/v1/projects -H "Authorization: Bearer $ADMIN_TOKEN"
\`\`\`

The first answer has the project's \`id\`. \`POST /admin/v1/projects/{id}/keys\` with \`{"name": "web"}\` creates a key, and shows it once.

Send \`Authorization: Bearer <ADMIN_TOKEN>\`. A running gateway serves the schemas of all bodies at \`/admin/docs\`, and as
OpenAPI at \`/admin/v1/openapi.json\`. A field has the name of its [CLI option](cli.md) with underscores: \`--tokens-per-minute\` is
\`tokens_per_minute\`. Amounts are exact JSON numbers in USD. Lists take \`?limit&cursor\`. Every resource has an \`ETag\`; \`If-Match\`
returns 412 if the object changed meanwhile.`;
