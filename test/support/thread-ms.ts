/** Processor time that this thread has taken, or has since an earlier look, in milliseconds. */
export function threadMs(before?: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}
