export interface UploadWatch {
  /** Bytes were sent, and the other side can take more. */
  onTaken?(): void;
  /** The other side wants more. */
  onWanted?(): void;
  /** All of it was sent. */
  onEnd(): void;
}

/** The same stream, at the sender's pace. */
export function notingEnd(stream: ReadableStream<Uint8Array>, watch: UploadWatch): ReadableStream<Uint8Array> {
  const reader = stream.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        watch.onWanted?.();
        const { done, value } = await reader.read();
        if (!done) {
          watch.onTaken?.();
          return controller.enqueue(value);
        }
        watch.onEnd();
        controller.close();
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
