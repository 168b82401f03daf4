// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these texts are code
import phrases from '@llm0/core/data/english/phrases.txt' with { type: 'text' };
import questions from '@llm0/core/data/english/questions.txt' with { type: 'text' };
import { DASHES } from '@llm0/core/guardrails/folded-text';

/** An expression that is no proven linear one: the most characters that it meets. */
export interface BoundedExpression {
  readonly path: string;
  readonly source: string;
  readonly bound: number;
  /** The file that sees to the bound, and the words that do; texts that only operators write are bounded by their own sense. */
  readonly holds: readonly [path: string, words: string];
}

const SEMANTIC = 'packages/core/src/cache/semantic';
const QUESTION = [`${SEMANTIC}/eligible-question.ts`, 'text.length > MAX_EMBEDDED_CHARACTERS'] as const;
const SETTINGS = ['apps/gateway/src/config/values.ts', 'this.env[name]'] as const;
const ADDRESSES = ['packages/core/src/limits/client-network.ts', 'isIPv4(bare) || isIPv6(bare)'] as const;
const BASE_URL = ['apps/gateway/src/admin/providers/schema.ts', 'const url = text(500)'] as const;
const ASKED = '(?:who|what|when|where|why|how|whom|which)';
const OWN_LINES = [`${SEMANTIC}/english/rewrites.ts`, 'linesOf(phrases).map(readRewrite)'] as const;
const FILE_NAMES = ['packages/core/src/limits/outbox/settlement-file.ts', 'readdirSync(this.dir)'] as const;
const DEMO = ['packages/providers/src/demo/write-answer.ts', 'prompt.slice(0, SEARCHED_CHARACTERS)'] as const;
const DOCS_PAGE = ['apps/gateway/src/admin/system/docs-page.ts', 'docs-page.html'] as const;
const FIGURES = ['packages/core/src/pricing/format-usd.ts', 'nanoUsd: number'] as const;
const TRAILING_ZEROS = String.raw`\.?0+$`;
const DASHBOARD = 'apps/dashboard/src';
const TRAILING_SLASHES = String.raw`\/+$`;

type Row = readonly [path: string, source: string, bound: number, holds: BoundedExpression['holds']];

const ROWS: readonly Row[] = [
  [
    `${SEMANTIC}/guards/read-text.ts`,
    String.raw`^([^\n]*?\p{L}[^\n]*?)(?::\s+|\n\s*)(\S+\s+\S+\s+\S[\s\S]*)$`,
    3_000,
    QUESTION,
  ],
  [`${SEMANTIC}/guards/read-text.ts`, '```[^\\n]*\\n?([\\s\\S]*?)```|`([^`]+)`', 3_000, QUESTION],
  [`${SEMANTIC}/guards/read-text.ts`, String.raw`(?<=\S\s+)May\b(?! I\b| we\b)`, 3_000, QUESTION],
  ['packages/core/src/limits/client-network.ts', '%.*$', 16_000, ADDRESSES],
  ...[
    'apps/gateway/src/admin/providers/schema.ts',
    'packages/providers/src/openai/passthrough.ts',
    'packages/providers/src/openai-compatible/ollama.ts',
    'packages/providers/src/openai-compatible/azure.ts',
    'packages/providers/src/anthropic/endpoint.ts',
    'packages/providers/src/anthropic/passthrough.ts',
    'packages/providers/src/gemini/passthrough.ts',
    'packages/providers/src/bedrock/endpoint.ts',
    'packages/providers/src/gemini/endpoint.ts',
    'packages/providers/src/cohere/endpoint.ts',
    'packages/providers/src/vertex/endpoint.ts',
  ].map((path): Row => [path, TRAILING_SLASHES, 500, BASE_URL]),
  [
    'apps/gateway/src/cli/admin-client.ts',
    TRAILING_SLASHES,
    500,
    ['apps/gateway/src/cli/admin-client.ts', '${url.replace'],
  ],
  ['apps/gateway/src/config/values.ts', TRAILING_SLASHES, 500, SETTINGS],
  ['apps/gateway/src/config/sinks.ts', String.raw`^\/+|\/+$`, 500, SETTINGS],
  ['apps/gateway/src/secrets/fetch-google.ts', TRAILING_SLASHES, 500, SETTINGS],
  ['apps/gateway/src/secrets/fetch-vault.ts', TRAILING_SLASHES, 500, SETTINGS],
  ['apps/gateway/src/config/providers.ts', String.raw`^[a-z]{2}(?:-[a-z]+)+-\d$`, 100, SETTINGS],
  [`${SEMANTIC}/guards/read-text.ts`, String.raw`\b(?:what|which|whom?)\b.*\b(?:do|does|did)\b`, 3_000, QUESTION],
  [`${SEMANTIC}/guards/scope-marks.ts`, `\\b${ASKED}\\b.*\\band (?:by |in |at )?${ASKED}\\b`, 3_000, QUESTION],
  [
    `${SEMANTIC}/english/rewrites.ts`,
    String.raw`\bhow (?:do|does|is|are) (?=.*\b(?:differ|different|compare)\b)`,
    3_000,
    QUESTION,
  ],
  [`${SEMANTIC}/english/rewrites.ts`, '^(.+?) :: (.+) => (.+)$', 500, OWN_LINES],
  ['packages/core/src/limits/client-network.ts', String.raw`^(?:0*:)*:?ffff:(\d+\.\d+\.\d+\.\d+)$`, 100, ADDRESSES],
  ['packages/core/src/limits/outbox/settlement-file.ts', String.raw`(\.\d+\.claimed)+$`, 255, FILE_NAMES],
  [DEMO[0], String.raw`\b(?:use|call)\b.*\btools?\b`, 2_000, DEMO],
  // Meet the reference page of this repository only.
  [DOCS_PAGE[0], String.raw`<script>([\s\S]*?)<\/script>`, 500, DOCS_PAGE],
  [DOCS_PAGE[0], String.raw`<style>([\s\S]*?)<\/style>`, 500, DOCS_PAGE],
  // The operator's own browser, with figures of ours or what the operator types.
  [`${DASHBOARD}/features/forms/prepare-form.ts`, TRAILING_ZEROS, 100, FIGURES],
  [`${DASHBOARD}/format/format-usd.ts`, '0+$', 100, FIGURES],
  ['packages/core/src/pricing/format-usd.ts', TRAILING_ZEROS, 100, FIGURES],
];

export const BOUNDED_EXPRESSIONS: readonly BoundedExpression[] = ROWS.map(([path, source, bound, holds]) => ({
  ...{ path, source, bound, holds },
}));

interface Built {
  readonly path: string;
  /** The call, in one line. */
  readonly code: string;
  readonly patterns: readonly { readonly source: string; readonly flags: string }[];
}

/** A line like `hint :: pattern => word`. */
const patternsOf = (text: string) =>
  text.split('\n').flatMap((line) => {
    const source = line.startsWith('#') ? undefined : line.split(' :: ')[1]?.split(' => ')[0];
    return source === undefined ? [] : [{ source, flags: source.includes('\\p{') ? 'gu' : 'g' }];
  });

/** Expressions that are built at run time, and all that come of it. */
export const BUILT_EXPRESSIONS: readonly Built[] = [
  {
    path: `${SEMANTIC}/english/rewrites.ts`,
    code: 'new RegExp(pattern, flags)',
    patterns: [...patternsOf(phrases), ...patternsOf(questions)],
  },
  {
    path: 'packages/core/src/guardrails/detectors/plain-text.ts',
    code: 'new RegExp(`[${DASHES}]|\\\\[[\\\\dmK]|%[02]`)',
    patterns: [{ source: String.raw`[${DASHES}]|\[[\dmK]|%[02]`, flags: '' }],
  },
  {
    path: 'packages/core/src/guardrails/detectors/plain-text.ts',
    code: "new RegExp(`[${DASHES}]`, 'g')",
    patterns: [{ source: `[${DASHES}]`, flags: 'g' }],
  },
  {
    path: 'packages/core/src/limits/embedded/journal.ts',
    code: 'new RegExp(`^${this.options.name}-(\\\\d+)\\\\.journal(\\\\.draft)?$`)',
    patterns: [{ source: String.raw`^hot-(\d+)\.journal(\.draft)?$`, flags: '' }],
  },
  {
    path: 'packages/core/src/guardrails/detectors/national-phone.ts',
    code: "new RegExp(`^(?:${patterns.join('|')})$`)",
    patterns: [{ source: String.raw`^(?:[2-9]\d{9}|1[5-7]\d{8,9})$`, flags: '' }],
  },
  {
    path: 'packages/core/src/guardrails/pseudonyms.ts',
    code: "new RegExp(NAME.source.slice(1, -1), 'g')",
    patterns: [{ source: '<[A-Z_]{1,32}_[0-9a-z]{1,16}>', flags: 'g' }],
  },
  {
    path: 'packages/providers/src/openai/passthrough.ts',
    code: 'new RegExp(`^${prefix}/${endpoint.path}$`)',
    patterns: [String.raw`(?:\/v1)?`, String.raw`\/openai\/deployments\/(?<model>[^/]+)`].map((prefix) => ({
      ...{ source: `^${prefix}/chat/completions$`, flags: '' },
    })),
  },
  {
    path: 'packages/providers/src/path-rules.ts',
    code: "new RegExp(`^/${parts.join('/')}$`)",
    patterns: [
      { source: '^/v1/[^/]+/x/[^/]+$', flags: '' },
      { source: '^/v1/x/.+$', flags: '' },
    ],
  },
];
