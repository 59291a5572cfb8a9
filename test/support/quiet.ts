/** Longer than the windows of batches by default; shorter than what tests hold. */
const WINDOW_MS = 50;

/** Some requests of a gateway at no call, one after the other: it has read by then whatever was sent to it before. */
export async function roundTrips({ url }: { readonly url: string }): Promise<void> {
  for (let times = 0; times < 5; times += 1) await (await fetch(new URL('/health/live', url))).text();
}

/**
 * Waits until whatever goes on by itself has reached the service: windows that are open close before this timer fires,
 * since that is later and of the same event loop. So it tells of what has not been sent, however busy the machine is.
 */
export async function settled(gateway: { readonly url: string }): Promise<void> {
  await roundTrips(gateway);
  await new Promise((resolve) => setTimeout(resolve, WINDOW_MS));
  await roundTrips(gateway);
}
