import { defaultWatchTimes, type WatchTimes } from "../../src/engine/uci/watch.ts";

/** For tests of results, in which a slow engine on a busy machine must not be killed. */
export const patientTimes: WatchTimes = {
  ...defaultWatchTimes,
  startMs: 60_000,
  unresponsiveMs: 20_000,
  stopMs: 20_000,
  cleanMs: 20_000,
};
