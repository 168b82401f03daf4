import { type ClipboardEvent, useRef, useState } from 'react';
import { formatBytes } from '../../format/format-number';
import { Button } from '../../ui/button';
import { Input } from '../../ui/form';
import { Close } from '../../ui/icons';
import type { Picture } from './conversation';

const TYPES = /^image\/(?:png|jpeg|gif|webp)$/;
/** Default tokens of an image. */
const MOST_BYTES = 10 * 1024 * 1024;

/** Files as data URLs. Throws the reason for refusing a file. */
export function readPictures(files: readonly File[]): Promise<readonly Picture[]> {
  return Promise.all(
    files.map(async (file) => {
      if (!TYPES.test(file.type)) throw new Error(`${file.name} is not a PNG, JPEG, GIF or WebP image.`);
      if (file.size > MOST_BYTES) throw new Error(`${file.name} is ${formatBytes(file.size)}. The limit is 10 MiB.`);
      return { url: await toDataUrl(file), name: file.name || 'pasted image', bytes: file.size };
    }),
  );
}

function toDataUrl(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(new Error(`${file.name} could not be read.`));
    reader.readAsDataURL(file);
  });
}

/** Images from the clipboard. */
export const pastedFiles = (event: ClipboardEvent): readonly File[] =>
  [...event.clipboardData.files].filter(({ type }) => type.startsWith('image/'));

interface Props {
  readonly pictures: readonly Picture[];
  readonly onPictures: (pictures: readonly Picture[]) => void;
  readonly problem: string | null;
  readonly onFiles: (files: readonly File[]) => void;
}

/** Images of a turn with their sizes; from a file, or from a URL that the provider or gateway loads. */
export function Pictures({ pictures, onPictures, problem, onFiles }: Props) {
  const file = useRef<HTMLInputElement>(null);
  const [isByAddress, setIsByAddress] = useState(false);
  const add = (picture: Picture) => {
    onPictures([...pictures, picture]);
    setIsByAddress(false);
  };
  return (
    <div className="grid gap-2">
      <PictureList {...{ pictures, onPictures }} />
      {isByAddress && <AddressField onAdd={add} />}
      <div className="flex flex-wrap items-center gap-1.5">
        <Button size="small" kind="ghost" onClick={() => file.current?.click()}>
          Add image
        </Button>
        <Button size="small" kind="ghost" aria-expanded={isByAddress} onClick={() => setIsByAddress(!isByAddress)}>
          Add image URL
        </Button>
        <input
          ref={file}
          type="file"
          aria-label="Image files"
          accept="image/png,image/jpeg,image/gif,image/webp"
          multiple
          hidden
          onChange={(event) => {
            onFiles([...(event.target.files ?? [])]);
            event.target.value = '';
          }}
        />
      </div>
      {problem !== null && (
        <p role="alert" className="text-xs text-bad wrap-anywhere">
          {problem}
        </p>
      )}
    </div>
  );
}

function PictureList({ pictures, onPictures }: Pick<Props, 'pictures' | 'onPictures'>) {
  if (pictures.length === 0) return null;
  return (
    <ul className="flex flex-wrap gap-2">
      {pictures.map((picture, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the same image may be there twice
        <li key={at} className="flex max-w-full items-center gap-2 rounded-md border p-1.5 text-xs">
          {picture.url.startsWith('data:') && (
            <img src={picture.url} alt={picture.name} className="size-10 rounded object-cover" />
          )}
          <span className="min-w-0">
            <span className="block truncate">{picture.name}</span>
            <span className="text-muted">
              {picture.bytes === null ? 'remote, not loaded here' : formatBytes(picture.bytes)}
            </span>
          </span>
          <Button
            kind="ghost"
            size="small"
            aria-label={`Remove ${picture.name}`}
            onClick={() => onPictures(pictures.toSpliced(at, 1))}
          >
            <Close />
          </Button>
        </li>
      ))}
    </ul>
  );
}

function AddressField({ onAdd }: { readonly onAdd: (picture: Picture) => void }) {
  const [url, setUrl] = useState('');
  const isUrl = /^https?:\/\/\S+$/.test(url.trim()) && URL.canParse(url.trim());
  const add = () => isUrl && onAdd({ url: url.trim(), name: new URL(url.trim()).host, bytes: null });
  return (
    <div className="flex gap-1.5">
      <Input
        aria-label="Image URL"
        placeholder="https://…"
        value={url}
        autoFocus
        onValue={setUrl}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && !event.metaKey && !event.ctrlKey) add();
        }}
      />
      <Button disabled={!isUrl} onClick={add}>
        Add
      </Button>
    </div>
  );
}
