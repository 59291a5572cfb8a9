import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A CPU profile as V8 writes it. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly children?: readonly number[];
    readonly id: number;
    readonly callFrame: {
      readonly functionName: string;
      readonly url: string;
      /** From 0. */
      readonly lineNumber: number;
    };
  }[];
  readonly samples: readonly number[];
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[];
}

export interface SelfTime {
  readonly name: string;
  /** Share of the time that the process was not idle, from 0 to 1. */
  readonly share: number;
}

export type ProfileNode = CpuProfile['nodes'][number];
type Frame = ProfileNode['callFrame'];

/** Self time by the names of frames, the longest first. */
export function selfTimes(profile: CpuProfile, nameOf: (frame: Frame) => string): SelfTime[] {
  return sharesOf(profile, ({ callFrame }) => nameOf(callFrame));
}

/** The time of all samples by the names of their nodes, the longest first. Idle time and the profiler's own are excluded. */
export function sharesOf(
  { nodes, samples, timeDeltas }: CpuProfile,
  nameOf: (node: ProfileNode) => string,
): SelfTime[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const times = new Map<string, number>();
  let total = 0;
  for (const [i, id] of samples.entries()) {
    const node = byId.get(id);
    if (node === undefined || isOutside(node)) continue;
    const time = timeDeltas[i] ?? 0;
    const name = nameOf(node);
    times.set(name, (times.get(name) ?? 0) + time);
    total += time;
  }
  return [...times]
    .map(([name, time]) => ({ name, share: time / total }))
    .toSorted((a, b) => b.share - a.share);
}

function isOutside({ callFrame: { functionName, url } }: ProfileNode): boolean {
  return functionName === '(idle)' || (functionName === 'post' && url === 'node:inspector');
}

export function functionName({ functionName: name, url, lineNumber }: Frame): string {
  const place = fileOf(url);
  return `${name || '(anonymous)'}${place === '' ? '' : `  ${place}:${lineNumber + 1}`}`;
}

/** Groups frames by source file, package, Node or V8. */
export function partName({ functionName: name, url }: Frame): string {
  const file = fileOf(url);
  if (file === '') return name.startsWith('(') ? name : 'V8 built-ins';
  return /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? (file.startsWith('node:') ? 'Node' : file);
}

export function fileOf(url: string): string {
  return url.startsWith('file:') ? relative('.', fileURLToPath(url)) : url;
}
