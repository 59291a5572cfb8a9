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
  /** Of the time that the process was not idle, from 0 to 1. */
  readonly share: number;
}

type Frame = CpuProfile['nodes'][number]['callFrame'];

/** Self time by whatever a frame is named after, the greatest first. */
export function selfTimes(profile: CpuProfile, nameOf: (frame: Frame) => string): SelfTime[] {
  const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]));
  const times = new Map<string, number>();
  let total = 0;
  for (const [i, id] of profile.samples.entries()) {
    const frame = frames.get(id);
    if (frame === undefined || frame.functionName === '(idle)') continue;
    const time = profile.timeDeltas[i] ?? 0;
    const name = nameOf(frame);
    times.set(name, (times.get(name) ?? 0) + time);
    total += time;
  }
  return [...times]
    .map(([name, time]) => ({ name, share: time / total }))
    .toSorted((a, b) => b.share - a.share);
}

export function functionName({ functionName: name, url, lineNumber }: Frame): string {
  const place = fileOf(url);
  return `${name || '(anonymous)'}${place === '' ? '' : `  ${place}:${lineNumber + 1}`}`;
}

/** A file of ours, a package, a part of Node, or V8 itself. */
export function partName({ functionName: name, url }: Frame): string {
  const file = fileOf(url);
  if (file === '') return name.startsWith('(') ? name : 'V8, built in';
  return /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? (file.startsWith('node:') ? 'Node' : file);
}

export function fileOf(url: string): string {
  return url.startsWith('file:') ? relative('.', fileURLToPath(url)) : url;
}
