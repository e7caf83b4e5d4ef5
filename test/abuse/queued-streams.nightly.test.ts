import { testQueuedStreams } from "./queued-streams.ts";

// A share of a core says something only on a machine that runs nothing else.
testQueuedStreams(() => true, 0.6);
