import { type CpuProfile, fileOf, type ProfileNode, type SelfTime, sharesOf } from './self-times.ts';

/** Where an operation spends its time, by the code that a sample was taken in, the innermost that is named here. */
const STAGES: readonly (readonly [name: string, files: RegExp])[] = [
  [
    'find the run',
    /^src\/(operations\/(repeated|response-cache|schema-answers|persisted|plain-requests|requests|callers|admi)|cache\/(proven|key-digest))/,
  ],
  ['open and close the run', /^src\/(operations|graph\/context)/],
  [
    'accept and answer (HTTP)',
    /^src\/server\/(?!metrics|log)|fastify|find-my-way|secure-json-parse|node:_http_(server|incoming|outgoing)|node:internal\/http/,
  ],
  ['log and metrics', /^src\/server\/(metrics|log)|prom-client|pino/],
  ['keys and cache', /^src\/cache|lru-cache|keyv/],
  ['quota', /^src\/(quota|upstream\/rate-limited)/],
  ['pool and window', /^src\/observations\/(pool|queue|batch)/],
  ['plan and cover', /^src\/(planner|observations\/(planned|covered|estimate|task))/],
  ['figures: other stages', /^src\/observations/],
  ['demands (DataLoader)', /^src\/loaders|dataloader/],
  ['resolvers', /^src\/(resolvers|graph)/],
  ['execution', /^src\/execution|graphql/],
  ['parse the answer', /^src\/exact-json|^src\/upstream\/nesting/],
  ['decode and check', /^src\/upstream\/records|zod/],
  ['undici', /undici|wasm:/],
  ['call: other rings', /^src\/upstream|cockatiel/],
  ['turns', /^src\/async/],
];

const UNKNOWN = 'Node, not told apart';

export function stageTimes(profile: CpuProfile): SelfTime[] {
  const { nodes } = profile;
  const parents = new Map<number, number>();
  for (const { id, children = [] } of nodes) for (const child of children) parents.set(child, id);
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const known = new Map<number, string>();
  const stageOf = (id: number | undefined): string => {
    if (id === undefined) return UNKNOWN;
    let stage = known.get(id);
    if (stage === undefined) {
      stage = ownStage(byId.get(id)) ?? stageOf(parents.get(id));
      known.set(id, stage);
    }
    return stage;
  };
  return sharesOf(profile, ({ id }) => stageOf(id));
}

function ownStage(node: ProfileNode | undefined): string | undefined {
  if (node === undefined) return undefined;
  const { functionName, url } = node.callFrame;
  if (functionName === '(garbage collector)') return 'garbage collection';
  const file = fileOf(url);
  return STAGES.find(([, files]) => files.test(file))?.[0];
}
