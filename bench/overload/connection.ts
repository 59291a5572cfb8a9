import { connect, type Socket } from 'node:net';

/** One response: its status, the time from the first byte sent to the last received, and its beginning. */
export interface Answered {
  readonly status: number;
  readonly ms: number;
  readonly start: string;
}

/** Characters of a response that are examined. */
const START_LENGTH = 60;

/**
 * A keep-alive connection with one request in flight at a time. It reads only the status, the length and the beginning of
 * responses, so that one process can send more than a gateway can answer.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #head: string;
  #settle: ((answer: Answered) => void) | null = null;
  #sentAtMs = 0;
  #status = 0;
  #start = '';
  /** Bytes of the body that are still missing; null before the head is complete. */
  #left: number | null = null;
  #text = '';

  constructor(url: string) {
    const { hostname, port, pathname, host } = new URL(url);
    this.#socket = connect({ host: hostname, port: Number(port), noDelay: true });
    this.#head = `POST ${pathname} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\n`;
    this.#socket.on('data', (bytes: Buffer) => this.#read(bytes));
    this.#socket.on('error', () => this.#finish(0));
    this.#socket.on('close', () => this.#finish(0));
  }

  /** @param headers as lines, each with its CRLF */
  ask(body: string, headers: string): Promise<Answered> {
    this.#sentAtMs = performance.now();
    this.#socket.write(`${this.#head}${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    return new Promise((resolve) => {
      this.#settle = resolve;
      if (this.#socket.destroyed) this.#finish(0);
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(bytes: Buffer): void {
    let body = bytes;
    if (this.#left === null) {
      this.#text += bytes.toString('latin1');
      const end = this.#text.indexOf('\r\n\r\n');
      if (end < 0) return;
      const head = this.#text.slice(0, end).toLowerCase();
      body = Buffer.from(this.#text.slice(end + 4), 'latin1');
      this.#text = '';
      this.#status = Number(head.slice(9, 12));
      this.#left = Number(/\r\ncontent-length: (\d+)/.exec(head)?.[1] ?? 0);
      this.#start = body.toString('latin1', 0, START_LENGTH);
    }
    this.#left -= body.length;
    if (this.#left <= 0) this.#finish(this.#status);
  }

  #finish(status: number): void {
    this.#left = null;
    const settle = this.#settle;
    this.#settle = null;
    settle?.({ status, ms: performance.now() - this.#sentAtMs, start: this.#start });
  }
}
