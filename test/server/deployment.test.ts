import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { readConfig, settingNamesOf } from '../../src/config/config.ts';
import { plugins } from '../../src/plugins.ts';
import { blocksOf } from '../support/markdown.ts';
import { openProgram } from '../support/program.ts';
import { hasProgram } from '../support/programs.ts';

const RULES = 'docker/observability/rules.yaml';
const DASHBOARD = 'docker/observability/grafana/country-graph.json';
const KUBERNETES = 'docker/kubernetes';

const text = (file: string) => readFileSync(file, 'utf8');
const read = (file: string): unknown => parse(text(file));

const Rules = z.object({
  groups: z.array(
    z.strictObject({
      name: z.string(),
      rules: z.array(
        z.strictObject({
          alert: z.string(),
          expr: z.string(),
          for: z.string().optional(),
          labels: z.strictObject({ severity: z.enum(['warning', 'critical']) }),
          annotations: z.strictObject({ summary: z.string() }),
        }),
      ),
    }),
  ),
});
const Dashboard = z.object({
  panels: z.array(z.object({ title: z.string(), targets: z.array(z.object({ expr: z.string() })).min(1) })),
});

/** Has a text looked at by a program that reads files. */
function inFile<Result>(content: string, look: (file: string) => Result): Result {
  const folder = mkdtempSync(join(tmpdir(), 'country-graph-deployment-'));
  try {
    writeFileSync(join(folder, 'file'), content);
    return look(join(folder, 'file'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const alerts = () => Rules.parse(read(RULES)).groups.flatMap(({ rules }) => rules);
const panels = () => Dashboard.parse(JSON.parse(text(DASHBOARD))).panels;
const queries = () => [
  ...alerts().map(({ expr }) => expr),
  ...panels().flatMap(({ targets }) => targets.map(({ expr }) => expr)),
];

describe('the unit for systemd', () => {
  const [unit = ''] = blocksOf(text('docs/operating.md'), 'ini');
  const valuesOf = (name: string) =>
    [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value]) => value);

  it('the unit for systemd starts the program as any installer puts it, with settings that are there', () => {
    const { bin, name } = JSON.parse(text('package.json'));
    expect(valuesOf('ExecStart')).toEqual([`/usr/bin/node node_modules/${name}/${bin[name]} serve`]);
    const settings = valuesOf('Environment').map((setting = '') => setting.split('=', 1)[0] ?? '');
    expect(settings.filter((setting) => !settingNamesOf(plugins).includes(setting))).toEqual([]);
    // The state folder is that of the file, and the credential that of the pepper.
    expect(unit).toContain(`:/var/lib/${valuesOf('StateDirectory')[0]}/`);
    expect(unit).toContain(`%d/${valuesOf('LoadCredential')[0]?.split(':')[0]}`);
    const { drainDelayMs, drainTimeoutMs } = readConfig({});
    expect(Number(valuesOf('TimeoutStopSec')[0]) * 1000).toBeGreaterThan(
      drainDelayMs + drainTimeoutMs + 10_000,
    );
  });

  it.skipIf(spawnSync('systemd-analyze', ['--version']).status !== 0)(
    'the unit for systemd is one that systemd reads',
    () => {
      const folder = mkdtempSync(join(tmpdir(), 'country-graph-unit-'));
      try {
        const file = join(folder, 'country-graph.service');
        // Neither Node nor the settings are at these places here.
        const here = unit
          .replace('/usr/bin/node', process.execPath)
          .replace('/etc/country-graph.env', '-/dev/null');
        writeFileSync(file, here);
        const { stderr, status } = spawnSync('systemd-analyze', ['verify', '--man=no', file], {
          encoding: 'utf8',
        });
        expect([stderr.split('\n').filter((line) => line.includes('country-graph')), status]).toEqual([
          [],
          0,
        ]);
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
  );
});

describe('alert rules and the dashboard', () => {
  it('alert rules and the dashboard name metrics that are there, and labels that these have', async () => {
    await using program = await openProgram({
      env: { CACHE_URL: 'memory:', UPSTREAM_RETRIES: '0', RATE_LIMIT_WAIT_MS: '0' },
    });
    const { free: key = '' } = program.sandbox.keys;
    // Everything that has labels has to have been counted once: a spent plan, a failing route, and a figure.
    await program.ask(
      'query Kenya { country(code: "KE") { observation(metricKey: "population_total") { value } } }',
    );
    for (const code of ['KE', 'NG', 'GH', 'ZA', 'EG', 'MA'])
      await program.ask(`{ country(code: "${code}") { profile { record } } }`, { key });
    program.sandbox.faults.set({ kind: 'status', status: 503 });
    await program.ask('{ sources { key } }');
    expect(program.requests().length).toBeGreaterThan(6);
    const scraped = await (await fetch(program.url.replace('/graphql', '/metrics'))).text();

    const used = queries().flatMap((query) => [
      ...query.matchAll(/\b((?:country_graph|process|nodejs)_\w+)(?:\{(.*?)\})?/g),
    ]);
    expect(used.length).toBeGreaterThan(30);
    const missing = used.filter(([, name = '', matchers = '']) => {
      const series = scraped
        .split('\n')
        .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
      const isTyped = scraped.includes(`# TYPE ${name} `);
      const labels = [...matchers.matchAll(/(\w+)=/g)]
        .map(([, label]) => label)
        .filter((label) => label !== 'job');
      const hasLabels = labels.every((label) => series.some((line) => line.includes(`${label}="`)));
      return !(series.length > 0 || isTyped) || !hasLabels;
    });
    expect(missing.map(([whole]) => whole)).toEqual([]);
  });

  it('alert rules and the dashboard have a name or a title each, and no two the same', () => {
    for (const names of [alerts().map(({ alert }) => alert), panels().map(({ title }) => title)]) {
      expect(names.length).toBeGreaterThan(10);
      expect(new Set(names).size).toBe(names.length);
    }
  });

  it.skipIf(!hasProgram('promtool'))(
    'alert rules and the dashboard are of queries that Prometheus takes',
    () => {
      const check = (...args: string[]) => spawnSync('promtool', ['check', ...args], { encoding: 'utf8' });
      expect(check('config', 'docker/observability/prometheus.yaml')).toMatchObject({
        status: 0,
        stderr: '',
      });
      const ofPanels = panels().flatMap(({ targets }) => targets.map(({ expr }) => expr));
      const groups = [
        {
          name: 'panels',
          rules: ofPanels.map((expr, i) => ({
            record: `panel:${i}`,
            expr: expr.replaceAll('$__rate_interval', '1m'),
          })),
        },
      ];
      const checked = inFile(JSON.stringify({ groups }), (file) => check('rules', file));
      expect(checked).toMatchObject({ status: 0 });
      expect(checked.stdout).toContain(`${ofPanels.length} rules found`);
    },
  );
});

const Labels = z.record(z.string(), z.string());
const Selector = z.strictObject({ matchLabels: Labels });
const Named = z.object({ name: z.string(), labels: Labels.optional() });
const Probe = z.object({
  httpGet: z.strictObject({ path: z.string(), port: z.string() }),
  timeoutSeconds: z.number().optional(),
  failureThreshold: z.number().optional(),
});
const Deployment = z.object({
  apiVersion: z.literal('apps/v1'),
  metadata: Named,
  spec: z.object({
    selector: Selector,
    template: z.object({
      metadata: z.object({ labels: Labels }),
      spec: z.object({
        terminationGracePeriodSeconds: z.number(),
        containers: z.tuple([
          z.object({
            image: z.string(),
            env: z.array(z.strictObject({ name: z.string(), value: z.string() })),
            ports: z.array(z.strictObject({ name: z.string(), containerPort: z.number() })),
            startupProbe: Probe,
            readinessProbe: Probe,
            livenessProbe: Probe,
            securityContext: z.object({ readOnlyRootFilesystem: z.literal(true) }),
            volumeMounts: z.array(z.object({ name: z.string(), mountPath: z.string() })),
          }),
        ]),
        volumes: z.array(z.object({ name: z.string() })),
      }),
    }),
  }),
});
const Service = z.object({
  apiVersion: z.literal('v1'),
  metadata: Named,
  spec: z.object({
    selector: Labels,
    ports: z.array(z.strictObject({ name: z.string(), port: z.number(), targetPort: z.string() })),
  }),
});
const Autoscaler = z.object({
  apiVersion: z.literal('autoscaling/v2'),
  spec: z.object({
    scaleTargetRef: z.strictObject({ apiVersion: z.string(), kind: z.string(), name: z.string() }),
    minReplicas: z.number().min(2),
    maxReplicas: z.number(),
  }),
});
const Budget = z.object({
  apiVersion: z.literal('policy/v1'),
  spec: z.strictObject({ maxUnavailable: z.literal(1), selector: Selector }),
});
const Ports = z.array(z.strictObject({ port: z.union([z.string(), z.number()]), protocol: z.string() }));
const NetworkPolicy = z.object({
  apiVersion: z.literal('networking.k8s.io/v1'),
  spec: z.object({
    podSelector: Selector,
    policyTypes: z.array(z.string()),
    ingress: z.array(z.object({ ports: Ports })),
  }),
});
const ServiceMonitor = z.object({
  apiVersion: z.literal('monitoring.coreos.com/v1'),
  spec: z.object({
    jobLabel: z.string(),
    selector: Selector,
    endpoints: z.array(z.object({ port: z.string(), path: z.string() })),
  }),
});

describe('the files for Kubernetes', () => {
  const deployment = () => Deployment.parse(read(`${KUBERNETES}/deployment.yaml`));
  const service = () => Service.parse(read(`${KUBERNETES}/service.yaml`));

  it('the files for Kubernetes are all listed, and are of kinds that belong together', () => {
    const { resources } = z
      .object({ resources: z.array(z.string()) })
      .parse(read(`${KUBERNETES}/kustomization.yaml`));
    expect([...resources, 'kustomization.yaml'].toSorted()).toEqual(readdirSync(KUBERNETES).toSorted());
    const { selector, template } = deployment().spec;
    const { labels } = template.metadata;
    expect(selector.matchLabels).toEqual(labels);
    expect(service().spec.selector).toEqual(labels);
    expect(Budget.parse(read(`${KUBERNETES}/disruption-budget.yaml`)).spec.selector.matchLabels).toEqual(
      labels,
    );
    expect(
      NetworkPolicy.parse(read(`${KUBERNETES}/network-policy.yaml`)).spec.podSelector.matchLabels,
    ).toEqual(labels);
    const { scaleTargetRef } = Autoscaler.parse(read(`${KUBERNETES}/autoscaler.yaml`)).spec;
    expect(scaleTargetRef).toEqual({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      name: deployment().metadata.name,
    });
    const monitor = ServiceMonitor.parse(read(`${KUBERNETES}/service-monitor.yaml`)).spec;
    expect(monitor.selector.matchLabels).toEqual(service().metadata.labels);
    expect(service().metadata.labels?.[monitor.jobLabel]).toBe('country-graph');
  });

  it('the files for Kubernetes bring the namespace that all of it is in, and commands name it', () => {
    const { namespace } = z.object({ namespace: z.string() }).parse(read(`${KUBERNETES}/kustomization.yaml`));
    expect(read(`${KUBERNETES}/namespace.yaml`)).toMatchObject({
      kind: 'Namespace',
      metadata: { name: namespace },
    });
    const told = [...readdirSync(KUBERNETES).map((file) => `${KUBERNETES}/${file}`), 'docs/operating.md'];
    const commands = told.flatMap(
      (file) => text(file).match(/\bkubectl (?!apply -[fk]|kustomize)\S.*/g) ?? [],
    );
    expect(commands.length).toBeGreaterThan(1);
    for (const command of commands) expect(command).toMatch(new RegExp(`^kubectl -n ${namespace} `));
  });

  it('the files for Kubernetes take no gateway out for one slow answer', () => {
    const [{ readinessProbe }] = deployment().spec.template.spec.containers;
    expect(readinessProbe.timeoutSeconds).toBeGreaterThan(1);
    expect(readinessProbe.failureThreshold).toBeGreaterThan(1);
  });

  it('the files for Kubernetes name ports that are there, and ask for health where it is', async () => {
    const [container] = deployment().spec.template.spec.containers;
    const { env, ports } = container;
    const admin = ports.find(({ name }) => name === 'admin');
    expect(env.find(({ name }) => name === 'ADMIN_PORT')?.value).toBe(String(admin?.containerPort));
    const names = ports.map(({ name }) => name);
    for (const { targetPort } of service().spec.ports) expect(names).toContain(targetPort);
    const policy = NetworkPolicy.parse(read(`${KUBERNETES}/network-policy.yaml`)).spec;
    expect(policy.ingress.flatMap((rule) => rule.ports.map(({ port }) => port))).toEqual(names);
    const monitored = ServiceMonitor.parse(read(`${KUBERNETES}/service-monitor.yaml`)).spec.endpoints;
    const asked = [container.startupProbe, container.readinessProbe, container.livenessProbe].map(
      (probe) => probe.httpGet,
    );
    const paths = [...asked, ...monitored];
    expect(new Set(paths.map(({ port }) => port))).toEqual(new Set(['admin']));

    await using program = await openProgram();
    for (const { path } of paths) {
      expect([path, (await fetch(new URL(path, program.url))).status]).toEqual([path, 200]);
    }
  });

  it('the files for Kubernetes have settings that hold, secrets that are mounted, and time for a drain', () => {
    const { containers, volumes, terminationGracePeriodSeconds } = deployment().spec.template.spec;
    const [{ env, volumeMounts }] = containers;
    const secrets = env.filter(({ name }) => name.endsWith('_FILE'));
    expect(secrets).toHaveLength(2);
    const mounted = volumeMounts.map(({ mountPath }) => mountPath);
    for (const { value } of secrets) expect(mounted.some((path) => value.startsWith(`${path}/`))).toBe(true);
    expect(volumeMounts.map(({ name }) => name)).toEqual(volumes.map(({ name }) => name));
    const others = env.filter(({ name }) => !name.endsWith('_FILE'));
    const delay = text('docker/Dockerfile').match(/DRAIN_DELAY_MS=(\d+)/)?.[1];
    const config = readConfig({
      DRAIN_DELAY_MS: delay,
      ...Object.fromEntries(others.map(({ name, value }) => [name, value])),
    });
    const neededMs = config.drainDelayMs + config.drainTimeoutMs + 10_000;
    expect(terminationGracePeriodSeconds * 1000).toBeGreaterThan(neededMs);
  });
});

describe('the balancer of the compose file', () => {
  it.skipIf(!hasProgram('haproxy', '-v'))(
    'the balancer of the compose file has a configuration that HAProxy takes',
    () => {
      // The names of the gateways are known to the compose file's network alone.
      const here = text('docker/haproxy.cfg').replace(/gateway-(one|two):/g, '127.0.0.1:');
      const { status, stderr } = inFile(here, (file) =>
        spawnSync('haproxy', ['-c', '-q', '-f', file], { encoding: 'utf8' }),
      );
      expect([status, stderr]).toEqual([0, expect.not.stringContaining('ALERT')]);
    },
  );
});
