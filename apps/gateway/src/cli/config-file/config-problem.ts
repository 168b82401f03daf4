import { RequestFailed } from '../admin-client';

export type Path = readonly (string | number)[];

/** Something wrong in a file. */
export interface ConfigProblem {
  readonly file: string;
  readonly line: number;
  /** Empty for the file as a whole. */
  readonly path: Path;
  /** Continues the path: `must be at least 1`. */
  readonly message: string;
}

const SHOWN = 20;

/** The file can't be applied; nothing was changed. */
export class InvalidConfig extends RequestFailed {
  constructor(readonly problems: readonly ConfigProblem[]) {
    const shown = problems.slice(0, SHOWN).map(describe);
    const more = problems.length > SHOWN ? [`And ${problems.length - SHOWN} more.`] : [];
    super([...shown, ...more, 'Nothing was changed.'].join('\n'));
  }
}

function describe({ file, line, path, message }: ConfigProblem): string {
  const at = path.map(String).join('.').slice(0, 200);
  return `${file}:${line}: ${at === '' ? '' : `${at}: `}${message}`;
}
