import { z } from 'zod';
import { definePlugin, itemsOf, type StartedServices } from '../../plugin/index.ts';
import { BASELINE_BUDGET_MB } from './memory.ts';
import type { PublicDocument } from './public-documents.ts';

/** Megabytes of the drawing thread, without and with the engine's optimising compiler. */
const THREAD_MB = { baseline: 64, optimised: 144 };

export const publicPages = definePlugin({
  name: 'public-pages',
  settings: {
    /** File of the trusted documents that have addresses of their own; undefined for none. */
    PUBLIC_DOCUMENTS: z.string().min(1).optional(),
    /** Names of the issued keys that may publish from GraphiQL; over the sandbox, its demo keys may. */
    PUBLISHERS: z.string().transform(itemsOf).default([]),
  },
  needs: ['issued-keys', 'csv-tables'],
  errors: ({ PUBLIC_DOCUMENTS: file, TRUSTED_DOCUMENTS: trusted, COUNTRY_DATA_KEY: key, PUBLISHERS }) => [
    ...(file !== undefined && (key === undefined || trusted === undefined)
      ? ['PUBLIC_DOCUMENTS: needs TRUSTED_DOCUMENTS to name, and COUNTRY_DATA_KEY to issue keys under']
      : []),
    ...(PUBLISHERS !== undefined && file === undefined
      ? ['PUBLISHERS: needs PUBLIC_DOCUMENTS to publish to']
      : []),
  ],
  memory: ({ PUBLIC_DOCUMENTS: file }) =>
    file === undefined
      ? null
      : {
          because: 'PUBLIC_DOCUMENTS',
          mb: (processMb) => (processMb <= BASELINE_BUDGET_MB ? THREAD_MB.baseline : THREAD_MB.optimised),
        },
  commands: [
    {
      name: 'publish',
      description: 'make a page, a picture and data at an address of a file with one query; prints its frame',
      load: async () => (await import('./publish.ts')).addPublish,
    },
    {
      name: 'unpublish',
      description: 'take a page back that publish has made',
      load: async () => (await import('./publish.ts')).addUnpublish,
    },
  ],
  sample: async (env, files) => (await import('./sample.ts')).sampleIn(env, files),
  open({ PUBLIC_DOCUMENTS: file, PUBLISHERS: named }, pluginHost) {
    if (file === undefined) return null;
    let gateway: StartedServices;
    let isOpen = false;
    let served: Awaited<ReturnType<typeof import('./address-route.ts')['addressRoute']>> | undefined;
    return {
      async start(started) {
        gateway = started;
        await (await import('./sample.ts')).openKeys(file, started, pluginHost);
      },
      http: {
        async routes(app, host) {
          const { addressRoute } = await import('./address-route.ts');
          const { isOfSandbox } = await import('./sample.ts');
          const { pageFiles } = await import('./page-files.ts');
          const { files: disk } = pluginHost;
          const isSandbox = isOfSandbox(disk, file);
          const leaveOut = isSandbox ? pluginHost.warn : null;
          const pages = await addressRoute(app, gateway, host, { ...pluginHost, file, leaveOut });
          served = pages;
          const publishers = isSandbox ? null : named;
          if (publishers?.length === 0) return;
          isOpen = true;
          const { publishingRoutes } = await import('./publishing-route.ts');
          const files = pageFiles(gateway.documents.file ?? '', file);
          app.register(async (scope) => {
            host.asGraphql(scope);
            // With errors of its own.
            scope.register(async (own) =>
              publishingRoutes(own, gateway, host, { disk, files, publishers, served: pages }),
            );
          });
        },
        models: {
          way: '- [Public documents](c/openapi.json): pages, pictures and data by GET, below `c/`, without a key.',
          heading: 'Public documents',
          things: async () => served?.things() ?? [],
        },
      },
      api: () => ({
        documents: (): readonly PublicDocument[] => served?.listed() ?? [],
        isOpen: () => isOpen,
      }),
    };
  },
});
