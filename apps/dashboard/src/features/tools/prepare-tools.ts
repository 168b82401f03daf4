import type { McpServer, McpTool, ToolBucket } from '../../api/tools';
import type { Tone } from '../../ui/badge';

export interface ServerLine extends McpServer {
  readonly label: string;
  readonly tone: Tone;
  readonly calls: number;
  readonly errorRate: number | null;
  readonly costUsd: number;
  readonly p95Ms: number | null;
}

const HEALTH: Readonly<Record<McpServer['health']['state'], readonly [label: string, tone: Tone]>> = {
  ok: ['OK', 'good'],
  failing: ['failing', 'bad'],
  unknown: ['not used yet', 'neutral'],
  inactive: ['off', 'neutral'],
};

/** Servers with their calls in the range. */
export function prepareServers(servers: readonly McpServer[], buckets: readonly ToolBucket[]): ServerLine[] {
  const byAlias = new Map(buckets.map((bucket) => [bucket.group ?? '', bucket]));
  return servers.map((server) => {
    const used = byAlias.get(server.alias);
    const [label, tone] = HEALTH[server.health.state];
    const waits = server.health.held_back_count > 0;
    return {
      ...server,
      label: waits && server.health.state === 'ok' ? 'waiting for approval' : label,
      tone: waits && server.health.state === 'ok' ? 'warn' : tone,
      calls: used?.calls ?? 0,
      errorRate: used === undefined || used.calls === 0 ? null : used.error_rate,
      costUsd: used?.cost_usd ?? 0,
      p95Ms: used?.latency_ms.p95 ?? null,
    };
  });
}

export type ToolMark = 'read-only' | 'writes' | 'destructive' | 'unmarked';

export const MARK_TONES: Readonly<Record<ToolMark, Tone>> = {
  'read-only': 'good',
  writes: 'warn',
  destructive: 'bad',
  unmarked: 'warn',
};

/** What a server says its tool does. Without hints, MCP assumes that a tool may destroy. */
export function markOf({ seen }: Pick<McpTool, 'seen'>): ToolMark {
  const hints = seen?.annotations;
  if (typeof hints !== 'object' || hints === null) return 'unmarked';
  const { readOnlyHint, destructiveHint } = hints as { readOnlyHint?: unknown; destructiveHint?: unknown };
  if (readOnlyHint === true) return 'read-only';
  if (destructiveHint === false) return 'writes';
  return readOnlyHint === undefined && destructiveHint === undefined ? 'unmarked' : 'destructive';
}

/** Tools of a new server that are picked unless the operator says otherwise: what may write or destroy is off. */
export const pickAtFirst = (tools: readonly ({ readonly name: string } & Pick<McpTool, 'seen'>)[]): readonly string[] =>
  tools.filter((tool) => markOf(tool) === 'read-only').map(({ name }) => name);

export const TOOL_TONES: Readonly<Record<McpTool['state'], Tone>> = {
  approved: 'good',
  changed: 'bad',
  new: 'warn',
  declined: 'neutral',
  gone: 'neutral',
};

/** Waiting ones come first, removed ones last. */
export const sortTools = (tools: readonly McpTool[]): readonly McpTool[] => {
  const order = ['changed', 'new', 'approved', 'declined', 'gone'];
  return tools.toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state) || a.name.localeCompare(b.name));
};

export interface DiffLine {
  readonly kind: 'same' | 'approved' | 'seen';
  readonly text: string;
}

/** Above this number of lines, the diff only compares beginning and end. */
const MAX_LINES = 2000;

/** Line diff of a tool's approved and current version (longest common subsequence). */
export function diffLines(approved: unknown, seen: unknown): readonly DiffLine[] {
  const [before, after] = [linesOf(approved), linesOf(seen)];
  let start = 0;
  while (start < before.length && before[start] === after[start]) start++;
  let [endA, endB] = [before.length, after.length];
  while (endA > start && endB > start && before[endA - 1] === after[endB - 1]) {
    endA--;
    endB--;
  }
  const same = (lines: readonly string[]) => lines.map((text): DiffLine => ({ kind: 'same', text }));
  return [
    ...same(before.slice(0, start)),
    ...middle(before.slice(start, endA), after.slice(start, endB)),
    ...same(before.slice(endA)),
  ];
}

const linesOf = (value: unknown): readonly string[] =>
  value === null || value === undefined ? [] : JSON.stringify(value, null, 2).split('\n');

function middle(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  if (before.length + after.length > MAX_LINES) {
    return [
      ...before.map((text): DiffLine => ({ kind: 'approved', text })),
      ...after.map((text): DiffLine => ({ kind: 'seen', text })),
    ];
  }
  const width = after.length + 1;
  const longest = new Uint16Array((before.length + 1) * width);
  const at = (a: number, b: number) => longest[a * width + b] ?? 0;
  for (let a = before.length - 1; a >= 0; a--) {
    for (let b = after.length - 1; b >= 0; b--) {
      longest[a * width + b] = before[a] === after[b] ? at(a + 1, b + 1) + 1 : Math.max(at(a + 1, b), at(a, b + 1));
    }
  }
  const lines: DiffLine[] = [];
  let [a, b] = [0, 0];
  while (a < before.length || b < after.length) {
    if (a < before.length && b < after.length && before[a] === after[b]) {
      lines.push({ kind: 'same', text: before[a] ?? '' });
      a++;
      b++;
    } else if (b >= after.length || (a < before.length && at(a + 1, b) >= at(a, b + 1))) {
      lines.push({ kind: 'approved', text: before[a++] ?? '' });
    } else lines.push({ kind: 'seen', text: after[b++] ?? '' });
  }
  return lines;
}

export interface DiffRow {
  readonly approved: DiffLine | null;
  readonly seen: DiffLine | null;
}

/** Side-by-side diff: equal lines fill both columns, and replacements face each other. */
export function besideEachOther(lines: readonly DiffLine[]): readonly DiffRow[] {
  const rows: DiffRow[] = [];
  let [left, right]: [DiffLine[], DiffLine[]] = [[], []];
  const flush = () => {
    for (let at = 0; at < Math.max(left.length, right.length); at++)
      rows.push({ approved: left[at] ?? null, seen: right[at] ?? null });
    [left, right] = [[], []];
  };
  for (const line of lines) {
    if (line.kind === 'approved') left.push(line);
    else if (line.kind === 'seen') right.push(line);
    else {
      flush();
      rows.push({ approved: line, seen: line });
    }
  }
  flush();
  return rows;
}

/** Input of an argument. */
export interface ArgField {
  readonly name: string;
  readonly kind: 'text' | 'number' | 'choice' | 'json';
  readonly choices: readonly string[];
  readonly isRequired: boolean;
  readonly hint: string;
}

type Schema = Readonly<Record<string, unknown>>;

/** Tool arguments as fields; other types than text, number or choice take JSON. */
export function argFields(schema: Schema): readonly ArgField[] {
  const properties = asSchema(schema.properties);
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(properties).map(([name, value]) => {
    const property = asSchema(value);
    const { type, description } = property;
    const choices = choicesOf(property);
    const kind =
      choices.length > 0
        ? 'choice'
        : type === 'string'
          ? 'text'
          : type === 'number' || type === 'integer'
            ? 'number'
            : 'json';
    const hint = typeof description === 'string' ? description.slice(0, 300) : '';
    return { name, kind, choices, isRequired: required.includes(name), hint };
  });
}

function choicesOf({ type, enum: values }: Schema): readonly string[] {
  if (type === 'boolean') return ['true', 'false'];
  if (!Array.isArray(values) || values.length > 200) return [];
  return values.every((value) => typeof value === 'string' || typeof value === 'number') ? values.map(String) : [];
}

const asSchema = (value: unknown): Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Schema) : {};

/** Converts form values to tool arguments, without empty fields. Throws for invalid JSON or numbers. */
export function readArgs(schema: Schema, typed: Readonly<Record<string, string>>): Record<string, unknown> {
  const properties = asSchema(schema.properties);
  const given = argFields(schema).filter(({ name }) => (typed[name] ?? '') !== '');
  return Object.fromEntries(
    given.map((field) => [field.name, readArg(field, asSchema(properties[field.name]), typed[field.name] ?? '')]),
  );
}

function readArg({ name, kind }: ArgField, { type, enum: values }: Schema, text: string): unknown {
  if (kind === 'text') return text;
  if (kind === 'choice' && type !== 'boolean') {
    return Array.isArray(values) ? values.find((value) => String(value) === text) : text;
  }
  if (kind === 'number' && !Number.isFinite(Number(text))) throw new Error(`${name} must be a number.`);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Error(`${name} must be JSON.`);
  }
}
