import type { PluginHost } from '../../plugin/index.ts';

/** How files are read and written. */
export type Disk = PluginHost['files'];
