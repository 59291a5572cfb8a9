/**
 * Address of the gateway, and the key to ask it with. A page of your own has them from its build or its
 * session; here they come in the address, so that one build serves any gateway:
 * `?gateway=http://127.0.0.1:4000/graphql&key=…`.
 */
const params = new URLSearchParams(location.search);

export const GATEWAY = params.get('gateway') ?? 'http://127.0.0.1:4000/graphql';
export const HEADERS = { authorization: `Bearer ${params.get('key') ?? ''}` };
