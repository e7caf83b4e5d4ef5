import { testQueuedStreams } from "./queued-streams.ts";

/** Evaluations wait in the same queue as streams, without reports. They are tested every night. */
testQueuedStreams((name) => name.includes("streams"));
