import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { startFront } from './front.ts';

/**
 * An nginx in a separate process, in front of a program on a local port.
 * @param settings for proxies, beside the program's address
 */
export async function startNginx(programPort: number, settings = '') {
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
  server { listen 127.0.0.1:${port}; location / { proxy_pass http://127.0.0.1:${programPort}; ${settings} } }
}
`;
  const file = join(folder, 'nginx.conf');
  await writeFile(file, config);
  return startFront('nginx', ['-p', folder, '-c', file], port, folder);
}
