import { syncBuiltinESMExports } from 'node:module';
import zlib from 'node:zlib';

// Faster compression, for builds in tests: the best one takes most of their time.
const { brotliCompressSync } = zlib;
zlib.brotliCompressSync = (bytes, options) =>
  brotliCompressSync(bytes, { ...options, params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } });
syncBuiltinESMExports();
