import { runCommand } from './commands.ts';

await runCommand(process.env);
