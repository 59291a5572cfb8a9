import { type CpuProfile, fileOf, type ProfileNode, type SelfTime, sharesOf } from './self-times.ts';

/**
 * Stages of an operation. A sample counts for the stage of the innermost frame that matches a row here, by its file and,
 * if given, its function. The first matching row counts.
 */
const STAGES: readonly (readonly [name: string, files: RegExp, functions?: RegExp])[] = [
  ['body: compare with the previous one', /^src\/service\/bodies/, /^equals$/],
  ['body: bytes', /^src\/service\/bodies/, /^copy$/],
  ['body: text', /^src\/service\/bodies/, /^(textOf|textsOf|withoutMark)$/],
  ['body: nesting', /^src\/shared\/exact-json/, /^isDeep$/],
  ['body: parse', /^src\/(shared\/exact-json|service\/bodies)/],
  ['body: envelope', /^src\/service\/records\/envelope/, /^(listIn|soleListOf|metaIn|wholeListIn)$/],
  ['body: records', /^src\/(service\/records|shared\/periods)|zod/],
  ['figures: entries', /^src\/observations\/(entries|entry-reader|cached)/],
  ['figures: pool', /^src\/observations\/(pool|data-calls|client)/],
  ['figures: other', /^src\/observations\/[^/]+$/],
  [
    'requests and responses (HTTP)',
    /^src\/server\/(?!metrics|log)|fastify|find-my-way|secure-json-parse|node:_http_(server|incoming|outgoing)|node:internal\/http/,
  ],
  ['log and metrics', /^src\/server\/(metrics|log)|prom-client|pino/],
  ['open and close the run', /^src\/(graphql\/(request|schema\/context)|gateway)/],
  ['keys, quota, cache', /^src\/(cache|keys|graphql\/cost)|lru-cache|keyv/],
  ['plan and cover', /^src\/observations\/planner/],
  ['demands', /^src\/observations\/loaders|dataloader/],
  ['resolvers', /^src\/graphql\/(resolvers|schema)/],
  ['columns', /^src\/graphql\/execution\/columns/],
  ['execution', /^src\/graphql\/execution|graphql/],
  ['undici', /undici|wasm:/],
  ['call: other stages', /^src\/service|cockatiel/],
  ['turns', /^src\/shared\/async/],
];

const OTHER = 'Node, other';

export function stageTimes(profile: CpuProfile): SelfTime[] {
  const { nodes } = profile;
  const parents = new Map<number, number>();
  for (const { id, children = [] } of nodes) for (const child of children) parents.set(child, id);
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const stages = new Map<number, string>();
  const stageOf = (id: number | undefined): string => {
    if (id === undefined) return OTHER;
    let stage = stages.get(id);
    if (stage === undefined) {
      stage = ownStage(byId.get(id)) ?? stageOf(parents.get(id));
      stages.set(id, stage);
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
  return STAGES.find(
    ([, files, functions]) => files.test(file) && (functions?.test(functionName) ?? true),
  )?.[0];
}
