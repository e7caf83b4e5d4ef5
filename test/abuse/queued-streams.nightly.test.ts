import { testQueuedStreams } from "./queued-streams.ts";

testQueuedStreams(() => true);
