// Without Postgres, earlier approvals count; a server never listed before has no tools yet.
import { hashTool } from '@llm0/core/mcp/hash-tool';
import type { McpServer } from '@llm0/core/mcp/server';
import type { Db } from '@llm0/drizzle/client';
import { keepSeenTools, type SeenTool } from '@llm0/drizzle/queries/mcp/tools';
import type { Logger } from 'pino';
import type { ListedTool } from '../lists/sort-tools';
import type { JudgeTools } from './server-entry';
import type { Pins, ServerTable } from './server-table';

export interface JudgeOptions {
  readonly db: Db;
  readonly table: Pick<ServerTable, 'pinsOf' | 'keepPins'>;
  readonly monotonicMs: () => number;
  readonly log: Pick<Logger, 'warn'>;
}

interface Written {
  readonly fingerprint: string;
  readonly atMs: readonly number[];
  /** Approvals at that time. */
  readonly pins: Pins;
}

/** A list that changes with every reading is written so often at most. */
const WRITES = 6;
const WRITES_PER_MS = 60_000;

/** Compares tools with their approvals, and stores new ones for review. */
export function createJudge({ db, table, monotonicMs, log }: JudgeOptions): JudgeTools {
  const written = new Map<string, Written>();
  const keep = async ({ id, alias }: McpServer, seen: readonly SeenTool[], fingerprint: string): Promise<Pins> => {
    const nowMs = monotonicMs();
    const atMs = (written.get(id)?.atMs ?? []).filter((ms) => nowMs - ms < WRITES_PER_MS);
    if (atMs.length >= WRITES) return table.pinsOf(id);
    try {
      const pins = table.keepPins(id, await keepSeenTools(db, id, seen));
      written.set(id, { fingerprint, pins, atMs: [...atMs, nowMs] });
      return pins;
    } catch (err) {
      if (table.pinsOf(id).size === 0) throw err;
      log.warn({ err, server: alias }, 'what an MCP server lists now could not be kept');
      return table.pinsOf(id);
    }
  };
  return async (server, tools) => {
    const seen = tools.map(asSeen);
    const fingerprint = seen.map(({ name, hash }) => `${name} ${hash}`).join('\n');
    const before = written.get(server.id);
    const isKnown = before?.fingerprint === fingerprint && before.pins === table.pinsOf(server.id);
    const pins = isKnown ? before.pins : await keep(server, seen, fingerprint);
    return new Set(seen.filter(({ name, hash }) => pins.get(name) === hash).map(({ name }) => name));
  };
}

const asSeen = ({ name, tool }: ListedTool): SeenTool => ({ name, tool, hash: hashTool(tool) });
