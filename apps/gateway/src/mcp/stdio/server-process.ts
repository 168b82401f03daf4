// A server that ends takes its calls with it; one that writes without an end, or does not read, is killed.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { redactMessage } from '@llm0/core/logs/redact';
import type { Logger } from 'pino';
import { LineSplitter } from './split-lines';

/** Excludes the gateway's own settings. */
export interface ProgramSettings {
  /** Variables that every program needs. */
  readonly env: Readonly<Record<string, string>>;
  /** Each server gets a folder in it. */
  readonly folder: string;
}

export interface ServerProcessOptions {
  readonly alias: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly programs: ProgramSettings;
  readonly env: Readonly<Record<string, string>>;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** One line of its output; the next one waits for the promise. */
  readonly onLine: (line: string) => Promise<void> | undefined;
  /** Once; `why` continues the server's name. */
  readonly onEnd: (why: string) => void;
}

/** Limit of one message in either direction. */
export const MAX_LINE_BYTES = 16 * 1024 * 1024;
/** Bytes that a server may leave unread. */
const MAX_UNREAD_BYTES = 32 * 1024 * 1024;
const MAX_STDERR_LINE = 2000;
const STDERR_LINES = { most: 100, inMs: 10_000 };
const STOP_GRACE_MS = 2000;

/** One run of a stdio server: no shell, in a process group of its own, which goes with the gateway. */
export class ServerProcess {
  private readonly child: ChildProcess;
  private why: string | undefined;
  private hasEnded = false;
  private stderrLines = { sinceMs: 0, count: 0 };

  constructor(private readonly options: ServerProcessOptions) {
    const { alias, command, args, env, programs } = options;
    const guard = join(import.meta.dir, 'guard.ts');
    this.child = spawn(process.execPath, ['--no-env-file', '--smol', guard, String(process.pid), command, ...args], {
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
      cwd: makeFolder(join(programs.folder, alias)),
      env: { ...programs.env, ...env },
    });
    this.child.on('error', (error) => this.end(`could not be started: ${error.message}`));
    this.child.on('exit', (code, signal) => this.end(this.why ?? explainExit(code, signal)));
    this.child.stdin?.on('error', () => {});
    void this.readOutput();
    void this.readErrors();
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  /** Throws if the server doesn't read its input. */
  write(line: string): void {
    const { stdin } = this.child;
    if (stdin === null || this.hasEnded) return;
    if (stdin.writableLength > MAX_UNREAD_BYTES) this.kill('does not read what it is sent, and was stopped.');
    else stdin.write(`${line}\n`);
  }

  /** Asks it to end, and makes it end. */
  stop(): void {
    this.why ??= 'was stopped.';
    this.child.stdin?.end();
    this.signal('SIGTERM');
    setTimeout(() => this.signal('SIGKILL'), STOP_GRACE_MS).unref();
  }

  /** At once; `why` continues the server's name. */
  kill(why: string): void {
    this.why ??= why;
    this.signal('SIGKILL');
  }

  private end(why: string): void {
    if (this.hasEnded) return;
    // Child processes of the server end with it.
    this.signal('SIGKILL');
    this.hasEnded = true;
    this.options.onEnd(why);
  }

  private signal(signal: 'SIGTERM' | 'SIGKILL'): void {
    const { pid } = this.child;
    if (pid === undefined || this.hasEnded) return;
    try {
      process.kill(-pid, signal);
    } catch {
      // The process group has ended.
    }
  }

  private async readOutput(): Promise<void> {
    const lines = new LineSplitter(MAX_LINE_BYTES);
    try {
      for await (const chunk of this.child.stdout ?? []) {
        for (const line of lines.push(chunk as Uint8Array)) await this.options.onLine(line);
      }
    } catch (error) {
      this.kill(`was stopped: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  private async readErrors(): Promise<void> {
    let lines = new LineSplitter(MAX_STDERR_LINE * 8);
    for await (const chunk of this.child.stderr ?? []) {
      try {
        for (const line of lines.push(chunk as Uint8Array)) this.logLine(line);
      } catch {
        lines = new LineSplitter(MAX_STDERR_LINE * 8);
        this.logLine('(a line that is too long)');
      }
    }
  }

  private logLine(line: string): void {
    const text = line.trim();
    if (text === '') return;
    const nowMs = performance.now();
    if (nowMs - this.stderrLines.sinceMs > STDERR_LINES.inMs) this.stderrLines = { sinceMs: nowMs, count: 0 };
    this.stderrLines.count += 1;
    const { count } = this.stderrLines;
    const { alias, log } = this.options;
    if (count < STDERR_LINES.most)
      log.info({ server: alias, stderr: redactMessage(text.slice(0, MAX_STDERR_LINE)) }, 'MCP server');
    else if (count === STDERR_LINES.most)
      log.warn({ server: alias }, 'an MCP server writes too much to stderr: skipping its lines for a while');
  }
}

function makeFolder(path: string): string {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  return path;
}

function explainExit(code: number | null, signal: string | null): string {
  if (code === 127) return 'could not be started: its command is not there.';
  if (code === null) return `was ended by ${signal ?? 'a signal'}.`;
  return code === 128 ? 'was ended by a signal.' : `ended by itself (code ${code}).`;
}
