import { expect, it } from 'vitest';
import { onOff } from '../../src/config/config.ts';
import { definePlugin } from '../../src/plugin/index.ts';
import { openAlone } from '../support/plugin-host.ts';

const closed: string[] = [];

const base = definePlugin({
  name: 'base',
  settings: { BASE: onOff.default(false) },
  open: ({ BASE }) => (BASE ? {} : null),
});

const above = definePlugin({
  name: 'above',
  settings: {},
  needs: ['base'],
  open: () => ({ close: () => closed.push('above') }),
});

it('a plugin that needs another is refused where that is off, and where it is not there', async () => {
  await expect(openAlone([base, above], {})).rejects.toThrow(
    'The plugin above needs the plugin base, which is switched off.',
  );
  await expect(openAlone([above], {})).rejects.toThrow('needs the plugin base, which is not there.');
  // Finds nothing left open.
  expect(closed).toEqual(['above', 'above']);
  expect((await openAlone([base, above], { BASE: 'on' })).all).toHaveLength(2);
});
