import { syncBuiltinESMExports } from 'node:module';
import zlib from 'node:zlib';

// Takes a quicker compression for builds whose files nobody is sent: the best one is most of their time.
const { brotliCompressSync } = zlib;
zlib.brotliCompressSync = (bytes, options) =>
  brotliCompressSync(bytes, { ...options, params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } });
syncBuiltinESMExports();
