import type { PluginServices } from '../../plugin/index.ts';

export type NamedSource = PluginServices['site']['attribution'];

/** Names a service with its page, for texts without links. */
export const nameAndPage = ({ name, url }: NamedSource) => (url === null ? name : `${name} (${url})`);
