/** Containers that vendors of transcription take. */
export type AudioFormat = 'wav' | 'mp3' | 'mp4' | 'ogg' | 'flac' | 'webm';

/** What the first bytes of a file say about it. */
export interface AudioFacts {
  readonly format: AudioFormat;
  /** By its header; absent where that says nothing. */
  readonly seconds?: number | undefined;
}

interface Reader {
  readonly format: AudioFormat;
  matches(bytes: Buffer): boolean;
  /** `size`: bytes of the whole file, at most. */
  secondsOf(bytes: Buffer, size: number): number | undefined;
}

const startsWith = (bytes: Buffer, text: string, at = 0) => bytes.toString('latin1', at, at + text.length) === text;

const READERS: readonly Reader[] = [
  { format: 'wav', matches: (b) => startsWith(b, 'RIFF') && startsWith(b, 'WAVE', 8), secondsOf: wavSeconds },
  { format: 'flac', matches: (b) => startsWith(b, 'fLaC'), secondsOf: flacSeconds },
  { format: 'ogg', matches: (b) => startsWith(b, 'OggS'), secondsOf: () => undefined },
  { format: 'mp4', matches: (b) => startsWith(b, 'ftyp', 4), secondsOf: mp4Seconds },
  { format: 'webm', matches: (b) => b.length > 4 && b.readUInt32BE(0) === 0x1a45dfa3, secondsOf: webmSeconds },
  { format: 'mp3', matches: (b) => startsWith(b, 'ID3') || frameAt(b, 0) !== undefined, secondsOf: mp3Seconds },
];

/** Format by content and duration by header, from a file's first bytes; undefined for anything else. */
export function readAudio(bytes: Buffer, size: number): AudioFacts | undefined {
  const reader = READERS.find(({ matches }) => matches(bytes));
  if (reader === undefined) return undefined;
  const seconds = reader.secondsOf(bytes, size);
  const isTold = seconds !== undefined && Number.isFinite(seconds) && seconds > 0;
  return isTold ? { format: reader.format, seconds } : { format: reader.format };
}

/** Source: https://www.mmsp.ece.mcgill.ca/Documents/AudioFormats/WAVE/WAVE.html */
function wavSeconds(bytes: Buffer, size: number): number | undefined {
  let rate: number | undefined;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const length = bytes.readUInt32LE(at + 4);
    if (startsWith(bytes, 'fmt ', at) && at + 22 <= bytes.length) {
      // The rate that a decoder uses is that of its samples, whatever is said beside it.
      const [samples, told, block] = [at + 12, at + 16, at + 20].map((from, index) =>
        index === 2 ? bytes.readUInt16LE(from) : bytes.readUInt32LE(from),
      ) as [number, number, number];
      const isPcm = [1, 3].includes(bytes.readUInt16LE(at + 8));
      rate = isPcm ? samples * block : told;
    }
    // A stream's header tells no length, and a false one may tell any.
    if (startsWith(bytes, 'data', at)) return rate === undefined ? undefined : Math.max(0, size - at - 8) / rate;
    at += 8 + length + (length % 2);
  }
  return undefined;
}

/** Source: https://www.rfc-editor.org/rfc/rfc9639#name-streaminfo */
function flacSeconds(bytes: Buffer): number | undefined {
  if (bytes.length < 26) return undefined;
  const rate = bytes.readUIntBE(18, 3) >> 4;
  const samples = (bytes.readUInt8(21) & 0x0f) * 2 ** 32 + bytes.readUInt32BE(22);
  return rate === 0 ? undefined : samples / rate;
}

/** Boxes at one level: type, and where their content begins and ends. */
function* boxesOf(bytes: Buffer, from: number, to: number) {
  for (let at = from; at + 8 <= to; ) {
    const short = bytes.readUInt32BE(at);
    const isLong = short === 1 && at + 16 <= to;
    const length = isLong ? Number(bytes.readBigUInt64BE(at + 8)) : short;
    const head = isLong ? 16 : 8;
    if (length < head) return;
    yield { type: bytes.toString('latin1', at + 4, at + 8), from: at + head, to: Math.min(to, at + length) };
    at += length;
  }
}

/** Absent where the index stands behind the sound. Source: ISO/IEC 14496-12 */
function mp4Seconds(bytes: Buffer): number | undefined {
  for (const outer of boxesOf(bytes, 0, bytes.length)) {
    if (outer.type !== 'moov') continue;
    for (const { type, from, to } of boxesOf(bytes, outer.from, outer.to)) {
      if (type !== 'mvhd' || from + 32 > to) continue;
      const isLong = bytes.readUInt8(from) === 1;
      const scale = bytes.readUInt32BE(from + (isLong ? 20 : 12));
      const length = isLong ? Number(bytes.readBigUInt64BE(from + 24)) : bytes.readUInt32BE(from + 16);
      return scale === 0 ? undefined : length / scale;
    }
  }
  return undefined;
}

const WEBM_SCALE = Buffer.from([0x2a, 0xd7, 0xb1]);
const WEBM_DURATION = Buffer.from([0x44, 0x89]);
const NANOS = 1e9;

/** Absent in recordings of browsers. Source: https://www.rfc-editor.org/rfc/rfc9559 */
function webmSeconds(bytes: Buffer): number | undefined {
  const scaleAt = bytes.indexOf(WEBM_SCALE);
  const at = bytes.indexOf(WEBM_DURATION);
  if (at === -1 || at + 11 > bytes.length) return undefined;
  const width = bytes.readUInt8(at + 2) & 0x7f;
  if (width !== 4 && width !== 8) return undefined;
  const length = width === 4 ? bytes.readFloatBE(at + 3) : bytes.readDoubleBE(at + 3);
  const digits = scaleAt === -1 ? 0 : (bytes[scaleAt + 3] ?? 0) & 0x7f;
  const isTold = digits > 0 && digits <= 6 && scaleAt + 4 + digits <= bytes.length;
  return (length * (isTold ? bytes.readUIntBE(scaleAt + 4, digits) : 1e6)) / NANOS;
}

const BIT_RATES = [
  [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
] as const;
const SAMPLE_RATES = [44_100, 48_000, 32_000] as const;

/** A frame of MPEG audio, layer III. Source: ISO/IEC 11172-3 */
function frameAt(bytes: Buffer, at: number) {
  if (at + 4 > bytes.length) return undefined;
  const head = bytes.readUInt32BE(at);
  const [version, layer] = [(head >>> 19) & 3, (head >>> 17) & 3];
  const [rateIndex, sampleIndex] = [(head >>> 12) & 15, (head >>> 10) & 3];
  if (head >>> 21 !== 0x7ff || version === 1 || layer !== 1) return undefined;
  const kbps = BIT_RATES[version === 3 ? 0 : 1][rateIndex - 1];
  const full = SAMPLE_RATES[sampleIndex];
  if (kbps === undefined || full === undefined) return undefined;
  const sampleRate = version === 3 ? full : version === 2 ? full / 2 : full / 4;
  return { kbps, sampleRate, samples: version === 3 ? 1152 : 576 };
}

const MOST_SEARCHED = 64 * 1024;

/** By the count of frames, else by the rate of the first one. */
function mp3Seconds(bytes: Buffer, size: number): number | undefined {
  let at = 0;
  if (startsWith(bytes, 'ID3') && bytes.length > 10) {
    at = 10 + [6, 7, 8, 9].reduce((sum, index) => (sum << 7) | ((bytes[index] ?? 0) & 0x7f), 0);
  }
  for (const end = Math.min(bytes.length, at + MOST_SEARCHED); at < end; at++) {
    const frame = frameAt(bytes, at);
    if (frame === undefined) continue;
    const head = bytes.subarray(at, at + 64);
    const xing = Math.max(head.indexOf('Xing'), head.indexOf('Info'));
    const hasCount = xing !== -1 && at + xing + 12 <= bytes.length && (bytes.readUInt32BE(at + xing + 4) & 1) === 1;
    if (hasCount) return (bytes.readUInt32BE(at + xing + 8) * frame.samples) / frame.sampleRate;
    return Math.max(0, size - at) / (frame.kbps * 125);
  }
  return undefined;
}
