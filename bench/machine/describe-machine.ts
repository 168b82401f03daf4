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

export async function describeMachine(stores: string, servers: Readonly<Record<string, string>>): Promise<Machine> {
  // Empty where there is no git, or no repository.
  const commit = await Bun.$`git rev-parse --short HEAD`
    .cwd(import.meta.dir)
    .quiet()
    .nothrow()
    .text();
  return {
    cpu: cpus()[0]?.model ?? 'unknown CPU',
    cores: cpus().length,
    memoryGib: Math.round(totalmem() / 1024 ** 3),
    // What a host calls its own build of a kernel says nothing of how quick it is.
    system: `${process.platform} ${release().split('.').slice(0, 2).join('.')}`,
    bun: Bun.version,
    servers,
    stores,
    commit: commit.trim(),
    date: new Date().toISOString().slice(0, 10),
    command: ['bun run bench', ...showArguments(process.argv.slice(2))].join(' '),
  };
}

const SECRETS: ReadonlySet<string> = new Set(['--key', '--compare-key', '--compare-header']);

/** Arguments as one would type them again, without what may be secret: reports are published. */
export function showArguments(args: readonly string[]): readonly string[] {
  return args.map((text, index) => {
    const [name = ''] = text.split('=');
    if (SECRETS.has(args[index - 1] ?? '')) return '***';
    if (SECRETS.has(name) && text !== name) return `${name}=***`;
    return /[^\w.,:/=@-]/.test(text) ? `'${text}'` : text;
  });
}
