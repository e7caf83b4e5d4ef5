/** Returns `1:05:09`, `3:07`, or `0:09.4` below ten seconds. */
export function clockText(ms: number): string {
  const tenths = Math.floor(ms / 100);
  const seconds = Math.floor(tenths / 10);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const rest = `${seconds % 60}`.padStart(2, "0");
  const shown = hours > 0 ? `${hours}:${`${minutes}`.padStart(2, "0")}:${rest}` : `${minutes}:${rest}`;
  return seconds < 10 ? `${shown}.${tenths % 10}` : shown;
}
