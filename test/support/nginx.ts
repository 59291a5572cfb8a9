import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from './free-port.ts';

/** An nginx in a separate process, in front of a program on a local port, with no settings for proxies but its address. */
export async function startNginx(programPort: number) {
  const folder = await mkdtemp(join(tmpdir(), 'country-graph-nginx-'));
  const port = await freePort();
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const config = `
daemon off;
pid ${folder}/pid;
error_log stderr crit;
events {}
http {
  access_log off;
  ${paths.join('\n  ')}
  server { listen 127.0.0.1:${port}; location / { proxy_pass http://127.0.0.1:${programPort}; } }
}
`;
  const file = join(folder, 'nginx.conf');
  await writeFile(file, config);
  const child = spawn('nginx', ['-p', folder, '-c', file], { stdio: 'ignore' });
  const url = `http://127.0.0.1:${port}`;
  while (child.exitCode === null) {
    const ready = await fetch(`${url}/health/live`).catch(() => null);
    if (ready?.status === 200) break;
    await pause(50);
  }
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
