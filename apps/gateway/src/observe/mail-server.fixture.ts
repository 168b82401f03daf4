import { SMTPServer } from 'smtp-server';

interface Mail {
  readonly from: string;
  readonly to: readonly string[];
  /** With its headers. */
  readonly text: string;
}

/** A mail server on 127.0.0.1 that keeps what it takes. */
export async function startMailServer({ refuses }: { readonly refuses: string }) {
  const mails: Mail[] = [];
  const server = new SMTPServer({
    ...{ authOptional: true, disabledCommands: ['STARTTLS'] },
    onRcptTo: ({ address }, _, done) => done(address === refuses ? new Error('no such user') : null),
    onData: async (stream, { envelope }, done) => {
      const text = await new Response(stream as unknown as ReadableStream).text();
      const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
      mails.push({ from, to: envelope.rcptTo.map(({ address }) => address), text });
      done();
    },
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  const listening = server.listen(0, '127.0.0.1', resolve);
  await promise;
  const address = listening.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { mails, url: `smtp://127.0.0.1:${port}`, stop: () => new Promise<void>((done) => server.close(done)) };
}
