import coerce from "semver/functions/coerce.js";
import compare from "semver/functions/compare.js";

/** `19`, `15.1` and `v0.31.2` are releases; `dev-20260110-3a1b2c4d`, `19-rc1` and `unknown` are not. */
export function isRelease(version: string): boolean {
  return /^v?\d{1,16}(\.\d{1,16})*$/.test(version);
}

/**
 * Older before newer, by semantic versions, of which engines leave out the end: 15.10 comes after 15.2. What is no
 * release comes before all that are, in the order of its text: `dev-` is followed by a date. Of one family only:
 * numbers of different engines say nothing of each other.
 */
export function compareVersions(a: string, b: string): number {
  const [first, second] = [releaseOf(a), releaseOf(b)];
  if (first === undefined || second === undefined) {
    return Number(first !== undefined) - Number(second !== undefined) || compareText(a, b);
  }
  return compare(first, second);
}

/** A fourth number, which a few engines have, is left to the text of the id. */
function releaseOf(version: string): string | undefined {
  return isRelease(version) ? coerce(version.replace(/(?<!\d)0+(?=\d)/g, ""))?.version : undefined;
}

export function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
