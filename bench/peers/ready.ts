export const port = Number(process.env.PORT ?? 0);

/** The line that the race waits for. */
export function tellReady(address: { readonly port: number } | string | null): void {
  const at = typeof address === 'object' && address !== null ? address.port : port;
  console.log(`ready at http://127.0.0.1:${at}/graphql`);
}
