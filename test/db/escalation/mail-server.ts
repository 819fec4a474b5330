import { createServer, type AddressInfo, type Socket } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

export type MailServer = Awaited<ReturnType<typeof startMailServer>>;

/** A real SMTP server that refuses as the test says and keeps what it took. */
export async function startMailServer() {
  const mails: string[] = [];
  let refusal: { readonly at: 'auth' | 'rcpt' | 'data'; readonly code: number } | null = null;
  const refused = () => Object.assign(new Error('refused'), { responseCode: refusal?.code });
  const options: SMTPServerOptions = {
    logger: false,
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    authOptional: true,
    onAuth: (_auth, _session, done) => {
      if (refusal?.at === 'auth') done(refused());
      else done(null, { user: 'unsilent' });
    },
    onRcptTo: ({ address }, _session, done) => {
      done(refusal?.at === 'rcpt' && !address.startsWith('kept') ? refused() : null);
    },
    onData: (stream, _session, done) => {
      let text = '';
      stream.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
      stream.on('end', () => {
        if (refusal?.at === 'data') {
          done(refused());
          return;
        }
        mails.push(text);
        done(null, 'taken');
      });
    },
  };
  const server = new SMTPServer(options);
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      resolve();
    });
  });
  const address = server.server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  return {
    mails,
    url: `smtp://unsilent:secret@127.0.0.1:${port}`,
    refuse: (at: 'auth' | 'rcpt' | 'data' | null, code = 0) => {
      refusal = at === null ? null : { at, code };
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
      }),
  };
}

/**
 * A mail server that takes a mail's text and then answers line after line without ever coming to
 * an end: it is never silent for long.
 */
export async function startDawdlingServer() {
  let close = (): void => undefined;
  const closed = new Promise<void>((resolve) => (close = resolve));
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('close', () => {
      close();
    });
    dawdle(socket);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    /** Once the client's connection is gone. */
    closed,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
      }),
  };
}

function dawdle(socket: Socket): void {
  let said = '';
  let takesText = false;
  socket.write('220 mail.example ready\r\n');
  socket.on('data', (chunk: Buffer) => {
    said += chunk.toString('utf8');
    if (!said.endsWith(takesText ? '\r\n.\r\n' : '\r\n')) return;
    if (takesText) {
      const timer = setInterval(() => socket.write('250-not yet\r\n'), 10);
      socket.once('close', () => {
        clearInterval(timer);
      });
      return;
    }
    takesText = said.startsWith('DATA');
    said = '';
    socket.write(takesText ? '354 go on\r\n' : '250 fine\r\n');
  });
}
