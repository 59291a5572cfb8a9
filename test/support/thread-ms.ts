/** CPU time of this thread, in milliseconds; since `before`, if it is given. */
export function threadMs(before?: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}
