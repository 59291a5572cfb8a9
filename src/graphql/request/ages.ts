/** ISO 8601, UTC. */
export interface ShownAges {
  readonly oldestFetchedAt: string;
  readonly newestFetchedAt: string;
}

/** When the service sent what an operation is answered with, by route. */
export class Ages {
  readonly #byRoute = new Map<string, { oldestAtMs: number; newestAtMs: number }>();

  note(route: string, oldestAtMs: number, newestAtMs: number): void {
    const ages = this.#byRoute.get(route) ?? { oldestAtMs, newestAtMs };
    ages.oldestAtMs = Math.min(ages.oldestAtMs, oldestAtMs);
    ages.newestAtMs = Math.max(ages.newestAtMs, newestAtMs);
    this.#byRoute.set(route, ages);
  }

  /** The overall times are left out if there are none. */
  shown(): { readonly offline: true; readonly byRoute: Record<string, ShownAges> } & Partial<ShownAges> {
    const byRoute = [...this.#byRoute].sort(([one], [other]) => (one < other ? -1 : 1));
    const all = byRoute.map(([, ages]) => ages);
    const ages = {
      oldestAtMs: Math.min(...all.map(({ oldestAtMs }) => oldestAtMs)),
      newestAtMs: Math.max(...all.map(({ newestAtMs }) => newestAtMs)),
    };
    return {
      offline: true,
      ...(all.length > 0 && shownAges(ages)),
      byRoute: Object.fromEntries(byRoute.map(([route, some]) => [route, shownAges(some)])),
    };
  }
}

function shownAges({ oldestAtMs, newestAtMs }: { oldestAtMs: number; newestAtMs: number }): ShownAges {
  const [oldestFetchedAt, newestFetchedAt] = [oldestAtMs, newestAtMs].map((ms) => new Date(ms).toISOString());
  return { oldestFetchedAt, newestFetchedAt } as ShownAges;
}
