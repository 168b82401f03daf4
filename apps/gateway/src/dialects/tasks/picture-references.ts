import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { FileReference, ReferencingForm } from '../dialect';
import { invalid, isObject, mustBe } from '../read-fields';

/** A head of at most this many characters before the data. */
const MOST_HEAD = 100;
const HEAD = /^data:(image\/[a-z0-9.+-]{1,40});base64,/i;
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

/**
 * `images` and `mask` of an edit in JSON, each `{file_id}` or `{image_url}`. Source:
 * https://platform.openai.com/docs/api-reference/images/createEdit
 */
export function readReferences({ images = null, mask = null, ...fields }: JsonObject): ReferencingForm {
  if (images !== null && !Array.isArray(images)) throw mustBe('images', 'an array', images);
  const pictures = (images ?? []).map((one, index) => readReference('image', one, `images[${index}]`));
  const masks = mask === null ? [] : [readReference('mask', mask, 'mask')];
  return { fields, references: [...pictures, ...masks] };
}

function readReference(field: string, value: JsonValue, path: string): FileReference {
  if (!isObject(value)) throw mustBe(path, 'an object with "file_id" or "image_url"', value);
  const { file_id: fileId = null, image_url: url = null } = value;
  if (typeof fileId === 'string' && url === null) return { field, param: `${path}.file_id`, source: { fileId } };
  const [head = '', type] = typeof url === 'string' ? (HEAD.exec(url.slice(0, MOST_HEAD)) ?? []) : [];
  const base64 = typeof url === 'string' ? url.slice(head.length) : '';
  if (fileId !== null || type === undefined || !BASE64.test(base64)) {
    throw invalid(
      path,
      `"${path}" must have a "file_id" of /v1/files, or an "image_url" that is a data URL in base64.`,
    );
  }
  return { field, param: `${path}.image_url`, source: { type, base64 } };
}
