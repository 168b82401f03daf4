import { GatewayError } from '@llm0/core/errors/gateway-error';

/** The body as it comes; fails with `request_too_large` beyond `maxBytes`, so that no caller can fill the memory. */
export function boundedBody(body: ReadableStream<Uint8Array>, maxBytes: number): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let bytes = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        bytes += value.byteLength;
        if (bytes <= maxBytes) return controller.enqueue(value);
        void reader.cancel().catch(() => {});
        controller.error(tooLarge(maxBytes));
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

export function tooLarge(maxBytes: number): GatewayError {
  return new GatewayError('request_too_large', `The request body is larger than ${maxBytes} bytes (MAX_BODY_BYTES).`);
}
