#!/usr/bin/env node
import { enableCompileCache } from 'node:module';

// Before anything else is loaded: a second start finds the code of the first one compiled.
enableCompileCache();
const { runCommand } = await import('./commands.ts');
await runCommand(process.env);
