import { cpus, release, totalmem } from 'node:os';

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGib: number;
  readonly system: string;
  readonly bun: string;
  /** Version by name, where it could be read. */
  readonly servers: Readonly<Record<string, string>>;
  readonly stores: string;
  readonly commit: string;
  readonly date: string;
  readonly command: string;
}

export function describeMachine(stores: string, servers: Readonly<Record<string, string>>): Machine {
  return {
    cpu: cpus()[0]?.model ?? 'unknown CPU',
    cores: cpus().length,
    memoryGib: Math.round(totalmem() / 1024 ** 3),
    system: `${process.platform} ${release()}`,
    bun: Bun.version,
    servers,
    stores,
    commit: firstLine(['git', 'rev-parse', '--short', 'HEAD']),
    date: new Date().toISOString().slice(0, 10),
    command: `bun run bench ${process.argv.slice(2).join(' ')}`.trim(),
  };
}

function firstLine(command: string[]): string {
  try {
    return (
      Bun.spawnSync(command, { cwd: import.meta.dir, stderr: 'ignore' })
        .stdout.toString()
        .split('\n')[0] ?? ''
    );
  } catch {
    return '';
  }
}
