import { bigint, boolean, integer, jsonb, pgTable, primaryKey, smallint, text, uuid } from 'drizzle-orm/pg-core';
import { instant, instantOfInsert, nanoUsd } from './columns';

/** Callers' files; the file store has their bytes. */
export const files = pgTable('files', {
  id: uuid('id').primaryKey(),
  projectId: uuid('project_id').notNull(),
  apiKeyId: uuid('api_key_id').notNull(),
  name: text('name').notNull(),
  purpose: text('purpose').notNull(),
  bytes: bigint('bytes', { mode: 'number' }).notNull(),
  createdAtMs: instantOfInsert('created_at'),
  expiresAtMs: instant('expires_at'),
});

/** By OpenAI's names. */
export type BatchStatus =
  | ('validating' | 'failed' | 'in_progress' | 'finalizing')
  | ('completed' | 'expired' | 'cancelling' | 'cancelled');

export type BatchDialect = 'openai' | 'anthropic';

/** What is wrong with a line of the input; `line` counts from 1. */
export interface LineFault {
  readonly code: string;
  readonly message: string;
  readonly param: string | null;
  readonly line: number | null;
}

/**
 * A batch that a vendor runs: to be encoded (`wanted`), on its way (`sending`), under way (`sent`), or with its results in
 * the file store (`taken`).
 */
export interface ForwardedBatch {
  readonly state: 'wanted' | 'sending' | 'sent' | 'taken';
  readonly provider?: string;
  /** Of the first part, as all that follows it here. */
  readonly model?: string;
  readonly vendorId?: string;
  /** One for each model; absent in batches of releases that knew a single one. */
  readonly parts?: readonly ForwardedPart[];
  /** Models by the names that lines give them; absent where there is a single one. */
  readonly models?: Readonly<Record<string, string>>;
  /** File of the results. */
  readonly resultsId?: string;
  /** Some of its lines run here meanwhile. */
  readonly hasOwn?: true;
  /** The vendor knows that the caller cancelled it. */
  readonly isCancelled?: true;
}

/** Lines of one model at the vendor. `vendorId`: absent if it refused them. */
export interface ForwardedPart {
  readonly model: string;
  readonly vendorId?: string;
}

/** Batches of requests. Money is of their lines. */
export const batches = pgTable('batches', {
  id: uuid('id').primaryKey(),
  projectId: uuid('project_id').notNull(),
  apiKeyId: uuid('api_key_id').notNull(),
  dialect: text('dialect').$type<BatchDialect>().notNull(),
  endpoint: text('endpoint').notNull(),
  status: text('status').$type<BatchStatus>().notNull(),
  inputFileId: uuid('input_file_id').notNull(),
  outputFileId: uuid('output_file_id'),
  errorFileId: uuid('error_file_id'),
  /** Customer and labels of the request that made it, which its lines get. */
  headers: jsonb('headers').$type<Readonly<Record<string, string>>>().notNull(),
  metadata: jsonb('metadata').$type<Readonly<Record<string, string>>>(),
  errors: jsonb('errors').$type<readonly LineFault[]>(),
  total: integer('total').notNull().default(0),
  completed: integer('completed').notNull().default(0),
  failed: integer('failed').notNull().default(0),
  expired: integer('expired').notNull().default(0),
  cancelled: integer('cancelled').notNull().default(0),
  /** The most that its lines may cost: its hold at the start. */
  boundNanoUsd: nanoUsd('bound_usd').notNull().default(0),
  costNanoUsd: nanoUsd('cost_usd').notNull().default(0),
  /** By the rows of its lines, as far as they are written: more than the lines' own where an attempt was lost. */
  rowsNanoUsd: nanoUsd('rows_usd').notNull().default(0),
  /** By the same rows; cached and reasoning tokens are part of the others. */
  rowsTokensIn: bigint('rows_tokens_in', { mode: 'number' }).notNull().default(0),
  rowsTokensOut: bigint('rows_tokens_out', { mode: 'number' }).notNull().default(0),
  rowsTokensCached: bigint('rows_tokens_cached', { mode: 'number' }).notNull().default(0),
  rowsTokensReasoning: bigint('rows_tokens_reasoning', { mode: 'number' }).notNull().default(0),
  tokensIn: bigint('tokens_in', { mode: 'number' }).notNull().default(0),
  tokensOut: bigint('tokens_out', { mode: 'number' }).notNull().default(0),
  outputExpiresAfterSeconds: integer('output_expires_after_seconds'),
  /** null = the gateway runs it. */
  forwarded: jsonb('forwarded').$type<ForwardedBatch>(),
  createdAtMs: instantOfInsert('created_at'),
  expiresAtMs: instant('expires_at').notNull(),
  inProgressAtMs: instant('in_progress_at'),
  cancellingAtMs: instant('cancelling_at'),
  finalizingAtMs: instant('finalizing_at'),
  endedAtMs: instant('ended_at'),
});

export type LineState = 'waiting' | 'running' | 'completed' | 'failed' | 'expired' | 'cancelled';

/** The ledger of a batch. */
export const batchLines = pgTable(
  'batch_lines',
  {
    batchId: uuid('batch_id').notNull(),
    /** From 0. */
    line: integer('line').notNull(),
    customId: text('custom_id').notNull(),
    /** Its place in the input file. */
    at: bigint('at', { mode: 'number' }).notNull(),
    length: integer('length').notNull(),
    boundNanoUsd: nanoUsd('bound_usd').notNull(),
    state: text('state').$type<LineState>().notNull(),
    /** It runs here while others are at their batch's vendor. */
    isOwn: boolean('is_own').notNull().default(false),
    /** The run of a chunk that may end it. */
    owner: uuid('owner'),
    requestId: uuid('request_id'),
    httpStatus: smallint('http_status'),
    costNanoUsd: nanoUsd('cost_usd'),
    tokensIn: integer('tokens_in'),
    tokensOut: integer('tokens_out'),
    /** Place of a vendor's result in the file of results. */
    resultAt: bigint('result_at', { mode: 'number' }),
    resultLength: integer('result_length'),
    /** Body of the answer, until the output file has it. */
    answer: text('answer'),
  },
  (table) => [primaryKey({ columns: [table.batchId, table.line] })],
);
