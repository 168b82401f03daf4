// A part of a message may name a file of `/v1/files`. Decoders stop at its id; the caller's body then gets its content.
import { GatewayError } from '../errors/gateway-error';
import { isObject, type JsonObject, type JsonValue } from './json';

/** As `own-ids` shows them. */
const OWN_FILE_ID = /^file-[0-9a-f]{32}$/;

export const isOwnFile = (id: JsonValue | undefined): id is string => typeof id === 'string' && OWN_FILE_ID.test(id);

/** A request that can't be decoded before its files are in it. */
export class OwnFileError extends GatewayError {
  constructor(param: string) {
    super('invalid_request', `"${param}" names a file, which can't be read here. Send the file's data.`, { param });
  }
}

/** Content that a vendor stores may be another project's: nobody can tell. `instead`: a sentence. */
export function refuseStored(param: string, instead: string): GatewayError {
  const message = `"${param}" names stored content of a provider, which any project of this gateway could have stored. ${instead}`;
  return new GatewayError('invalid_request', message, { param });
}

/** Throws `OwnFileError` for a file of `/v1/files`, and the refusal of a vendor's own file. */
export function stopAtFile(id: JsonValue | undefined, param: string): void {
  if (isOwnFile(id)) throw new OwnFileError(param);
  if (typeof id !== 'string') return;
  throw refuseStored(param, 'Upload the file to /v1/files, and send the id from there.');
}

/** Content of a file; `base64` once. */
export interface InlinedFile {
  readonly name: string;
  readonly type: string;
  readonly base64: string;
}

interface PartShape {
  readonly idOf: (part: JsonObject) => JsonValue | undefined;
  readonly field: string;
  readonly put: (part: JsonObject, file: InlinedFile) => JsonObject;
}

const objectOf = (value: JsonValue | undefined): JsonObject => (isObject(value) ? value : {});
const TEXT_TYPE = 'text/plain';
const UNKNOWN_TYPE = 'application/octet-stream';
/** Without a byte order mark. */
const textOf = ({ base64 }: Pick<InlinedFile, 'base64'>): string =>
  new TextDecoder().decode(Buffer.from(base64, 'base64'));
const dataUrl = ({ type, base64 }: InlinedFile): string => `data:${type};base64,${base64}`;

const IMAGE_TYPE = /^image\//;

const SOURCE: PartShape = {
  idOf: ({ source }) => (objectOf(source).type === 'file' ? objectOf(source).file_id : undefined),
  field: 'source.file_id',
  put: (part, { name, type, base64 }) => {
    if (type === UNKNOWN_TYPE) {
      const message = `The file "${name.slice(0, 100)}" is no PDF, picture or text, which is what a message takes.`;
      throw new GatewayError('invalid_request', message, { param: 'messages' });
    }
    const kind = IMAGE_TYPE.test(type) ? 'image' : 'document';
    const title: JsonObject = kind === 'document' ? { title: name } : {};
    const source =
      type === TEXT_TYPE
        ? { type: 'text', media_type: type, data: textOf({ base64 }) }
        : { type: 'base64', media_type: type, data: base64 };
    return { ...title, ...part, type: kind, source };
  },
};

/** Parts that may name a file, by their type. */
const SHAPES: ReadonlyMap<JsonValue | undefined, PartShape> = new Map<string, PartShape>([
  [
    'file',
    {
      idOf: ({ file }) => objectOf(file).file_id,
      field: 'file.file_id',
      put: (part, file) => {
        // OpenAI reads PDFs alone here; words go among the others, under their title.
        if (file.type === TEXT_TYPE) {
          const { file: _file, ...beside } = part;
          return { ...beside, type: 'text', text: `${file.name}\n\n${textOf(file)}` };
        }
        if (IMAGE_TYPE.test(file.type)) {
          const { file: _file, ...beside } = part;
          return { ...beside, type: 'image_url', image_url: { url: dataUrl(file) } };
        }
        const { file_id: _id, ...rest } = objectOf(part.file);
        return { ...part, file: { filename: file.name, ...rest, file_data: dataUrl(file) } };
      },
    },
  ],
  [
    'input_file',
    {
      idOf: ({ file_id: id }) => id,
      field: 'file_id',
      put: ({ file_id: _id, ...part }, file) =>
        IMAGE_TYPE.test(file.type)
          ? { ...part, type: 'input_image', image_url: dataUrl(file) }
          : { filename: file.name, ...part, file_data: dataUrl(file) },
    },
  ],
  [
    'input_image',
    {
      idOf: ({ file_id: id }) => id,
      field: 'file_id',
      put: ({ file_id: _id, ...part }, file) => ({ ...part, image_url: dataUrl(file) }),
    },
  ],
  ['document', SOURCE],
  ['image', SOURCE],
]);

/** Reads a file by its id and the place that names it. */
export type ReadFile = (id: string, param: string) => Promise<InlinedFile>;

/** The body with files in place of their ids; the same one without any. */
export async function inlineFiles(body: JsonObject, read: ReadFile): Promise<JsonObject> {
  return (await inlineValue(body, '', read)) as JsonObject;
}

async function inlineValue(value: JsonValue, path: string, read: ReadFile): Promise<JsonValue> {
  if (Array.isArray(value)) {
    const items: JsonValue[] = [];
    for (const [index, item] of value.entries()) items.push(await inlineValue(item, `${path}[${index}]`, read));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  if (!isObject(value)) return value;
  const shape = SHAPES.get(value.type);
  const id = shape?.idOf(value);
  if (shape !== undefined && isOwnFile(id)) return shape.put(value, await read(id, `${path}.${shape.field}`));
  const changed: JsonObject = {};
  for (const [name, inner] of Object.entries(value)) {
    const given = await inlineValue(inner, path === '' ? name : `${path}.${name}`, read);
    if (given !== inner) changed[name] = given;
  }
  return Object.keys(changed).length === 0 ? value : { ...value, ...changed };
}
