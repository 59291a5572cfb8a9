import { openSchema } from '../src/gateway/gateway.ts';
import { warmUp } from '../src/server/warm-up.ts';

const schema = await openSchema();
const b = process.cpuUsage();
const t = performance.now();
let n = 0;
await warmUp(schema, async () => {
  n += 1;
  await new Promise(setImmediate);
  return true;
});
const u = process.cpuUsage(b);
console.log(n, (u.user + u.system) / 1000, performance.now() - t);
process.exit(0);
