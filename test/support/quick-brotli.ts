import { syncBuiltinESMExports } from 'node:module';
import zlib from 'node:zlib';

// Imported into a build whose files nobody is sent: the best compression is most of what it takes.
const { brotliCompressSync } = zlib;
zlib.brotliCompressSync = (bytes, options) =>
  brotliCompressSync(bytes, { ...options, params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } });
syncBuiltinESMExports();
