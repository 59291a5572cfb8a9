import { z } from 'zod';
import { definePlugin } from '../../plugin/index.ts';

export const issuedKeys = definePlugin({
  name: 'issued-keys',
  settings: {
    /** Key of the service that issued keys stand for; undefined if none are issued. */
    COUNTRY_DATA_KEY: z
      .string()
      .regex(/^[!-~]{8,4096}$/, 'must be a key of the service: 8 printable characters or more, and no blanks')
      .optional(),
    /** Bearer of operators who manage issued keys over the port of operators. */
    OPERATOR_KEY: z
      .string()
      .regex(/^[!-~]{16,4096}$/, 'must have 16 printable characters or more, and no blanks')
      .optional(),
  },
  secrets: ['COUNTRY_DATA_KEY', 'OPERATOR_KEY'],
  errors(given) {
    const {
      COUNTRY_DATA_KEY: key,
      CACHE_URL: store = 'memory:',
      WORKERS: workers = '1',
      SUBGRAPH_PREFIX,
    } = given;
    const errors: string[] = [];
    if (given.OPERATOR_KEY !== undefined && (key === undefined || given.ADMIN_PORT === undefined))
      errors.push('OPERATOR_KEY: needs ADMIN_PORT to be taken at, and COUNTRY_DATA_KEY to issue keys under');
    if (key === undefined) return errors;
    if (store === 'none')
      errors.push('COUNTRY_DATA_KEY: issued keys need a store, so CACHE_URL must not be none');
    if (store === 'memory:' && workers !== '1')
      errors.push('COUNTRY_DATA_KEY: workers share issued keys by CACHE_URL=sqlite:PATH or redis://…');
    if (SUBGRAPH_PREFIX !== undefined)
      errors.push(
        'COUNTRY_DATA_KEY: issued keys read the names of this gateway, so there must be no SUBGRAPH_PREFIX',
      );
    return errors;
  },
  remarks: ({ COUNTRY_DATA_KEY }, _given, { cacheUrl }) =>
    COUNTRY_DATA_KEY !== undefined && cacheUrl === 'memory:'
      ? [
          'Issued keys are stored in memory, and forgotten when the program ends: CACHE_URL=sqlite:PATH or redis://… keeps them.',
        ]
      : [],
  commands: [
    {
      name: 'keys',
      description: 'create, list, show, revoke or rotate keys that the gateway issues',
      load: async () => (await import('./commands.ts')).addKeys,
    },
    {
      name: 'usage',
      description: 'tell what issued keys have asked and cost, by day, client and document',
      load: async () => (await import('./commands.ts')).addUsage,
    },
  ],
  async open({ COUNTRY_DATA_KEY: gatewayKey, OPERATOR_KEY: operatorKey }, host) {
    if (gatewayKey === undefined) return null;
    const { openIssued } = await import('./issued.ts');
    return openIssued(gatewayKey, operatorKey, host);
  },
});
