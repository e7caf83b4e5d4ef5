/** Rounds a duration up: `45 s`, `12 min`, `23 h 56 min`. */
export function durationText(seconds: number): string {
  if (seconds <= 120) {
    return `${Math.ceil(seconds)} s`;
  }
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 60) {
    return `${minutes} min`;
  }
  const rest = minutes % 60;
  return `${Math.floor(minutes / 60)} h${rest === 0 ? "" : ` ${rest} min`}`;
}
