import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from './free-port.ts';

/** Column of HAProxy's CSV: requests in flight. */
const SESSIONS = 4;

/** A load balancer in a separate process, in front of local programs, with health checks of their readiness. */
export async function startHaproxy(ports: readonly number[]) {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'country-graph-haproxy-'));
  const file = join(folder, 'haproxy.cfg');
  const servers = ports.map((at, i) => `  server gateway-${i} 127.0.0.1:${at} check`);
  await writeFile(
    file,
    `
defaults
  mode http
  timeout connect 1s
  timeout client 15s
  timeout server 15s
  timeout check 1s
  option redispatch
  retries 3
frontend callers
  bind 127.0.0.1:${port}
  stats uri /balancer
  default_backend gateways
backend gateways
  balance roundrobin
  option httpchk GET /health/ready
  default-server inter 200ms fall 2 rise 1
${servers.join('\n')}
`,
  );
  const child = spawn('haproxy', ['-db', '-q', '-f', file], { stdio: ['ignore', 'ignore', 'inherit'] });
  const url = `http://127.0.0.1:${port}`;
  while (child.exitCode === null) {
    const ready = await fetch(`${url}/health/ready`).catch(() => null);
    if (ready?.status === 200) break;
    await pause(50);
  }
  /** Waits until the balancer's statistics satisfy a condition: one line of CSV per server, in the order of their ports. */
  const until = async (isSo: (servers: readonly string[]) => boolean) => {
    for (;;) {
      const csv = await (await fetch(`${url}/balancer;csv`)).text();
      if (isSo(csv.split('\n').filter((line) => line.startsWith('gateways,gateway-')))) return;
      await pause(50);
    }
  };
  return {
    url,
    /** Waits until the balancer sees all of them as ready. */
    untilAllUp: () => until((lines) => lines.filter((line) => line.includes(',UP,')).length === ports.length),
    /** Waits until each of them has at least one request in flight. */
    untilAllBusy: () => until((lines) => lines.every((line) => Number(line.split(',')[SESSIONS]) > 0)),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
