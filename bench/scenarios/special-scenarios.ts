import { measureBacklog } from './backlog';
import { measureBrowse } from './browse';
import { measureEndurance } from './endurance';
import { measureFarRedis } from './far-redis';
import { measureGuarded } from './guarded';
import { measureLevels } from './levels';
import { measureManyKeys } from './many-keys';
import { measureManyRows } from './many-rows';
import { measureCodeEmpty, measureCodeFive, measureMcpCall } from './mcp';
import { measureRealtime } from './realtime';
import type { SpecialScenario } from './special';
import { measureStart } from './start';
import { measureTracing } from './tracing';
import { measureTranscription } from './transcription';

/** In this order: the last ones fill the stores. */
export const SPECIAL_SCENARIOS: readonly SpecialScenario[] = [
  { name: 'start', what: 'seconds from the start of a process to its first answer', run: measureStart },
  {
    name: 'far-redis',
    what: 'misses of a gateway whose Redis is 2 ms away, over the one round trip',
    run: measureFarRedis,
  },
  {
    name: 'tracing',
    what: 'misses with tracing on, against off, at 2,000 req/s (--rate) and as fast as they go: throughput and memory',
    run: measureTracing,
  },
  {
    name: 'mcp-call',
    what: 'calls of an MCP tool at 10 connections, over the server asked directly and a bare proxy before it',
    run: measureMcpCall,
  },
  { name: 'code-empty', what: 'a script of Code Mode that does nothing', run: measureCodeEmpty },
  { name: 'code-five', what: 'a script of Code Mode with five tools of 50 ms in parallel', run: measureCodeFive },
  {
    name: 'realtime',
    what: "frames of a session's answer over those through a plain WebSocket relay, and memory of idle sessions",
    run: measureRealtime,
  },
  {
    name: 'guarded',
    what: 'streams of 500 chunks and prompts of 2 kB under pii, secrets and 500 words, over those without guardrails',
    run: measureGuarded,
  },
  {
    name: 'transcription',
    what: 'recordings of 20 MB, one at a time: first byte and memory beside the bare proxy',
    run: measureTranscription,
  },
  {
    name: 'levels',
    what: 'misses under budgets of organization, team, user, project and key, over those under one of the key',
    run: measureLevels,
  },
  {
    name: 'backlog',
    what: 'p99 of hits while --backlog-rows queued log rows are drained, against p99 without them',
    run: measureBacklog,
  },
  {
    name: 'endurance',
    what: 'mixed load for 30 minutes (--duration): memory of the gateway over time, and its slope',
    run: measureEndurance,
  },
  {
    name: 'keys-100k',
    what: 'misses of --keys keys and customers in turn, against those of one key',
    run: measureManyKeys,
  },
  {
    name: 'rows-10m',
    what: 'hits, misses and admin queries with --rows log rows and --cache-rows cache entries, against few',
    run: measureManyRows,
  },
  {
    name: 'browse',
    what: 'p99 of hits at a fixed rate while the dashboard is looked through over --rows log rows, against p99 without',
    run: measureBrowse,
  },
];
