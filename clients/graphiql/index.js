import { fileURLToPath } from 'node:url';

export const folder = fileURLToPath(new URL('./dist/', import.meta.url));
