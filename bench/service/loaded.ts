export interface Loaded {
  readonly requests: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** The JSON line that the script `questions.lua` prints at the end. */
interface WrkReport {
  readonly requests: number;
  readonly microseconds: number;
  /** In microseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly asked: number;
  readonly questions: number;
  readonly errors: Readonly<Record<string, number>>;
}

/** Throws Error if a request failed. If `repeats` is false, also throws Error for a repeated position. */
export function readLoaded(stdout: string, repeats: boolean): Loaded {
  const line = stdout.split("\n").find((each) => each.startsWith("{"));
  if (line === undefined) {
    throw new Error(`wrk printed no result: ${stdout}`);
  }
  const { requests, microseconds, p50, p99, asked, questions, errors }: WrkReport = JSON.parse(line);
  const failed = Object.entries(errors).filter(([, count]) => count > 0);
  if (failed.length > 0) {
    const counts = failed.map(([kind, count]) => `${count} × ${kind}`).join(", ");
    throw new Error(`of ${requests} requests not all were answered with success: ${counts}`);
  }
  if (requests === 0) {
    throw new Error(`no request was answered in ${microseconds / 1e6} s`);
  }
  // Subtract 1, because wrk creates one more request before it starts.
  if (!repeats && asked - 1 > questions) {
    throw new Error(`${asked} were asked, and only ${questions} are different`);
  }
  return { requests, seconds: microseconds / 1e6, p50Ms: p50 / 1000, p99Ms: p99 / 1000 };
}
