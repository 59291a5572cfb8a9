export const port = Number(process.env.PORT ?? 0);

/** Prints the line that the race waits for. */
export function logReady(address: { readonly port: number } | string | null): void {
  const at = typeof address === 'object' && address !== null ? address.port : port;
  console.log(`ready at http://127.0.0.1:${at}/graphql`);
}
