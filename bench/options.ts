import { Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';

/** What `bun run bench` was asked for; sizes are those of what `keys-100k`, `rows-10m` and `backlog` generate. */
export type BenchOptions = ReturnType<typeof parseOptions>;

/** A wrong argument; the message is for the user. */
export class BenchOptionError extends Error {
  override readonly name = 'BenchOptionError';
}

const createProgram = () =>
  new Command('bun run bench')
    .usage('[scenario… | all] [options]')
    .argument('[scenario…]')
    .allowExcessArguments()
    .helpOption(false)
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .configureHelp({ helpWidth: 120 })
    .option('--duration <s>', "seconds of a trial (default: the scenario's own)", atLeast(0.1))
    .option('--connections <n,…>', 'each in turn (default: 10)', (text) => text.split(',').map(atLeast(1)))
    .option('--rate <n>', 'requests per second, sent on time, instead of as fast as it goes', atLeast(0.1))
    .option('--trials <n>', 'interleaved; the table shows medians', atLeast(1), 3)
    .option('--warm-up <s>', "before a target's first trial of a scenario; later ones take at most 1 s", atLeast(0), 25)
    .addOption(new Option('--stores <kind>').choices(['real', 'embedded']).default('real'))
    .option('--workers <n>', 'gateway processes on one port', atLeast(1), 1)
    .option('--url <url>', 'a running gateway instead of one started here', withoutVersion)
    .option('--key <key>', 'its API key')
    .option('--compare <[name=]url>', 'another gateway under the same load; may be repeated', readOther)
    .option('--compare-key <key>', 'what the others are sent', 'bench')
    .option('--compare-model <name>', "the others' name for the model")
    .option('--compare-header <name: value>', 'sent to the others; may be repeated', readHeader)
    .option('--upstream-port <n>', 'a fixed port for the fake upstream, for the configuration of others', atLeast(0), 0)
    .option('--keys <n>', 'size of keys-100k', atLeast(1), 100_000)
    .option('--rows <n>', 'size of rows-10m and browse', atLeast(1), 10_000_000)
    .option('--cache-rows <n>', 'size of rows-10m', atLeast(0), 1_000_000)
    .option('--backlog-rows <n>', 'size of backlog', atLeast(1), 1_000_000)
    .option('--help', 'this text');

export const optionHelp = (): string => createProgram().helpInformation();

/** Throws `BenchOptionError`. */
export function parseOptions(argv: readonly string[]) {
  const program = createProgram();
  try {
    program.parse(argv, { from: 'user' });
  } catch (error) {
    throw new BenchOptionError(error instanceof Error ? error.message : String(error));
  }
  const { duration: seconds, warmUp: warmUpSeconds, compareHeader: compareHeaders = {}, ...options } = program.opts();
  const { connections = [10], compare = [] } = options;
  if ((options.url === undefined) !== (options.key === undefined)) {
    throw new BenchOptionError('--url and --key go together');
  }
  if (options.workers > 1 && options.stores === 'embedded') {
    throw new BenchOptionError('--workers needs --stores real');
  }
  return { ...options, scenarios: program.args, seconds, warmUpSeconds, connections, compare, compareHeaders };
}

function atLeast(least: number) {
  return (text: string): number => {
    const value = Number(text);
    if (text !== '' && value >= least) return value;
    throw new InvalidArgumentError(`It must be a number of at least ${least}.`);
  };
}

/** Another gateway that gets the same load; `url`: its OpenAI-compatible API without `/v1`. */
interface OtherGateway {
  readonly name: string;
  readonly url: string;
}

/** `name=URL`, or a URL that is its own name. */
function readOther(text: string, others: readonly OtherGateway[] = []): readonly OtherGateway[] {
  const [, name, url = ''] = /^(?:([\w.-]+)=)?(https?:\/\/.+)$/.exec(text) ?? [];
  if (!URL.canParse(url)) throw new InvalidArgumentError('It must be [name=]URL.');
  return [...others, { name: name ?? new URL(url).host, url: withoutVersion(url) }];
}

function readHeader(text: string, headers: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const [, name, value] = /^([\w-]+): *(\S.*)$/.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new InvalidArgumentError('It must be "name: value".');
  return { ...headers, [name.toLowerCase()]: value };
}

/** Base URLs are given with and without `/v1`. */
const withoutVersion = (url: string) => url.replace(/\/+$/, '').replace(/\/v1$/, '');
