import { parseArgs } from 'node:util';

/** Another gateway that gets the same load. */
export interface OtherGateway {
  readonly name: string;
  /** Its OpenAI-compatible API without `/v1`. */
  readonly url: string;
}

/** What `bun run bench` was asked for. */
export interface BenchOptions {
  /** In the order given; empty = the default ones. */
  readonly scenarios: readonly string[];
  /** Of one trial; absent = the scenario's own. */
  readonly seconds: number | undefined;
  readonly connections: readonly number[];
  readonly rate: number | undefined;
  readonly trials: number;
  readonly stores: 'real' | 'embedded';
  readonly workers: number;
  /** Of a target's first trial in a scenario; later ones take at most a second. */
  readonly warmUpSeconds: number;
  /** A running gateway to measure instead of one started here. */
  readonly url: string | undefined;
  readonly key: string | undefined;
  readonly compare: readonly OtherGateway[];
  readonly compareKey: string;
  /** Sent to the others with every request. */
  readonly compareHeaders: Readonly<Record<string, string>>;
  /** Model name that the others are asked for; absent = the scenario's. */
  readonly compareModel: string | undefined;
  /** Fixed, so that other gateways can be configured with it beforehand; 0 = any. */
  readonly upstreamPort: number;
  /** Sizes of what `keys-100k`, `rows-10m` and `backlog` generate. */
  readonly keys: number;
  readonly rows: number;
  readonly cacheRows: number;
  readonly backlogRows: number;
  readonly help: boolean;
}

/** A wrong argument; the message is for the user. */
export class BenchOptionError extends Error {
  override readonly name = 'BenchOptionError';
}

export const OPTION_HELP = `bun run bench [scenario… | all] [options]
  --duration 5           seconds of a trial (default: the scenario's own)
  --connections 10,50    each in turn
  --rate 1000            requests per second, sent on time, instead of as fast as it goes
  --trials 3             interleaved; the table shows medians
  --warm-up 25           seconds before a target's first trial of a scenario
  --stores real          or embedded
  --workers 1            gateway processes on one port
  --url URL --key KEY    a running gateway instead of one started here
  --compare [name=]URL   another gateway under the same load; may be repeated
  --compare-key KEY --compare-model MODEL --compare-header 'name: value' (may be repeated)
  --upstream-port 9100   a fixed port for the fake upstream, for the configuration of other gateways
  --keys 100000 --rows 10000000 --cache-rows 1000000 --backlog-rows 1000000`;

const DEFINED = {
  duration: { type: 'string' },
  connections: { type: 'string', default: '10' },
  rate: { type: 'string' },
  trials: { type: 'string', default: '3' },
  stores: { type: 'string', default: 'real' },
  workers: { type: 'string', default: '1' },
  'warm-up': { type: 'string', default: '25' },
  url: { type: 'string' },
  key: { type: 'string' },
  compare: { type: 'string', multiple: true, default: [] as string[] },
  'compare-key': { type: 'string', default: 'bench' },
  'compare-model': { type: 'string' },
  'compare-header': { type: 'string', multiple: true, default: [] as string[] },
  'upstream-port': { type: 'string', default: '0' },
  keys: { type: 'string', default: '100000' },
  rows: { type: 'string', default: '10000000' },
  'cache-rows': { type: 'string', default: '1000000' },
  'backlog-rows': { type: 'string', default: '1000000' },
  help: { type: 'boolean', default: false },
} as const;

/** Throws `BenchOptionError`. */
export function parseOptions(argv: readonly string[]): BenchOptions {
  const { values, positionals } = readArgs(argv);
  const number = (name: string, text: string, least: number): number => {
    const value = Number(text);
    if (text !== '' && value >= least) return value;
    throw new BenchOptionError(`--${name} must be a number of at least ${least}, but is "${text}"`);
  };
  const optional = (name: string, text: string | undefined, least: number) =>
    text === undefined ? undefined : number(name, text, least);
  if (values.stores !== 'real' && values.stores !== 'embedded') {
    throw new BenchOptionError(`--stores must be real or embedded, but is "${values.stores}"`);
  }
  if ((values.url === undefined) !== (values.key === undefined)) {
    throw new BenchOptionError('--url and --key go together');
  }
  const workers = number('workers', values.workers, 1);
  if (workers > 1 && values.stores === 'embedded') throw new BenchOptionError('--workers needs --stores real');
  return {
    scenarios: positionals,
    seconds: optional('duration', values.duration, 0.1),
    connections: values.connections.split(',').map((text) => number('connections', text, 1)),
    rate: optional('rate', values.rate, 0.1),
    trials: number('trials', values.trials, 1),
    stores: values.stores,
    workers,
    warmUpSeconds: number('warm-up', values['warm-up'], 0),
    url: values.url === undefined ? undefined : withoutVersion(values.url),
    key: values.key,
    compare: values.compare.map(readOther),
    compareKey: values['compare-key'],
    compareModel: values['compare-model'],
    compareHeaders: Object.fromEntries(values['compare-header'].map(readHeader)),
    upstreamPort: number('upstream-port', values['upstream-port'], 0),
    keys: number('keys', values.keys, 1),
    rows: number('rows', values.rows, 1),
    cacheRows: number('cache-rows', values['cache-rows'], 0),
    backlogRows: number('backlog-rows', values['backlog-rows'], 1),
    help: values.help,
  };
}

function readArgs(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], allowPositionals: true, options: DEFINED });
  } catch (error) {
    throw new BenchOptionError(error instanceof Error ? error.message : String(error));
  }
}

/** `name=URL`, or a URL that is its own name. */
function readOther(text: string): OtherGateway {
  const [, name, url = ''] = /^(?:([\w.-]+)=)?(https?:\/\/.+)$/.exec(text) ?? [];
  if (!URL.canParse(url)) throw new BenchOptionError(`--compare must be [name=]URL, but is "${text}"`);
  return { name: name ?? new URL(url).host, url: withoutVersion(url) };
}

function readHeader(text: string): readonly [string, string] {
  const [, name, value] = /^([\w-]+): *(\S.*)$/.exec(text) ?? [];
  if (name !== undefined && value !== undefined) return [name.toLowerCase(), value];
  throw new BenchOptionError(`--compare-header must be "name: value", but is "${text}"`);
}

/** Base URLs are given with and without `/v1`. */
const withoutVersion = (url: string) => url.replace(/\/+$/, '').replace(/\/v1$/, '');
