import { resolve } from 'node:path';
import { ConfigError, type EnvReader } from './values';

/** Where callers' files are: a folder, or a bucket of S3 or a service that speaks it. */
export type FileStoreSetting =
  | { readonly folder: string }
  | {
      readonly bucket: string;
      /** With a slash at the end, or empty. */
      readonly prefix: string;
      readonly endpoint?: string | undefined;
      readonly region?: string | undefined;
      readonly accessKeyId?: string | undefined;
      readonly secretAccessKey?: string | undefined;
      readonly sessionToken?: string | undefined;
    };

const GIB = 1024 ** 3;

/** Store of callers' files, with the most that a project may have in it. */
export function readFiles(
  read: EnvReader,
  { dataDir }: { readonly dataDir: string },
): { readonly store: FileStoreSetting; readonly maxProjectBytes: number } {
  const text = read.text('FILE_STORE');
  read.allowed.set('FILE_STORE', 'a folder, or s3://bucket/prefix');
  const maxProjectBytes = read.bytes('FILE_STORE_MAX_BYTES', 10 * GIB);
  if (text?.startsWith('s3:') !== true) {
    return { store: { folder: text === undefined ? resolve(dataDir, 'files') : resolve(text) }, maxProjectBytes };
  }
  const url = URL.parse(text);
  if (url === null || url.hostname === '' || url.search !== '' || url.username !== '') {
    throw new ConfigError('FILE_STORE', text, 's3://bucket/prefix is needed, without credentials or options');
  }
  const folder = decodeURIComponent(url.pathname.slice(1));
  const store = {
    bucket: url.hostname,
    prefix: folder === '' || folder.endsWith('/') ? folder : `${folder}/`,
    endpoint: read.url('S3_ENDPOINT'),
    region: read.text('AWS_REGION') ?? read.text('AWS_DEFAULT_REGION'),
    accessKeyId: read.text('AWS_ACCESS_KEY_ID'),
    secretAccessKey: read.text('AWS_SECRET_ACCESS_KEY'),
    sessionToken: read.text('AWS_SESSION_TOKEN'),
  };
  return { store, maxProjectBytes };
}
