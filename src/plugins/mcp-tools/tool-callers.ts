import type { StartedServices } from '../../plugin/index.ts';

type Asking = NonNullable<Parameters<StartedServices['ask']>[1]>;

/** @param keyName issued key under which callers without a key ask; undefined if each has to bring one */
export function openToolCallers(gateway: StartedServices, keyName: string | undefined) {
  const { documents, fields, openBound, openBudget, price, settingsError, site } = gateway;
  const named = (asking: Asking): Asking =>
    asking.headers?.authorization === undefined ? { ...asking, keyName } : asking;
  return {
    ...{ documents, fields, openBound, openBudget, price, settingsError, site },
    ask: (body: object, asking: Asking = {}) => gateway.ask(body, named(asking)),
    explain: (body: object, asking: Asking = {}) => gateway.explain(body, named(asking)),
    /** @throws Failure if it is an issued key that no longer works */
    async nameOf(authorization: string | undefined): Promise<string> {
      return (await gateway.holderOf(authorization, keyName)).name;
    },
  };
}
