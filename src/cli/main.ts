#!/usr/bin/env node
import { enableCompileCache } from 'node:module';
import { setFlagsFromString } from 'node:v8';

// Under load the engine comes to take what one operation makes for long-lived, and puts it where only a full collection
// finds it: with that, young collections take ten times as long, and the slowest answers with them.
setFlagsFromString('--no-allocation-site-pretenuring');

// Before anything else is loaded: a second start finds the code of the first one compiled.
enableCompileCache();
const { runCommand } = await import('./commands.ts');
await runCommand(process.env);
