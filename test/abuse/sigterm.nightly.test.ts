import { test } from "vitest";
import { open, rawRequest } from "../support/raw-http.ts";
import { flag, frame, frameType, headerBlock, openFrames, requestFields } from "./frames.ts";
import { expectOrderlyStop } from "./orderly-stop.ts";
import { useService } from "./started-service.ts";

const service = useService({ KIBITZ_QUEUE_MAX_WAIT_MS: "600000" });

// The test takes 20 s, because the service does not close these connections earlier.
test("SIGTERM ends the service with exit code 0 although some clients never finish their request or never read their response", async () => {
  const halfHeaders = await openFrames(service.port);
  await halfHeaders.send(frame(frameType.headers, 0, 1, headerBlock(requestFields("GET", "/healthz"))));
  const deaf = await openFrames(service.port, [[4, 0]]);
  await deaf.send(
    frame(
      frameType.headers,
      flag.endHeaders | flag.endStream,
      1,
      headerBlock(requestFields("GET", "/problems")),
    ),
  );
  const slow = await Promise.all(
    ["GET /heal", rawRequest("POST /v1/eval", ["Content-Type: application/json", "Content-Length: 100"])].map(
      async (bytes) => {
        const client = await open(service.port);
        client.socket.write(bytes);
        return client;
      },
    ),
  );
  await expectOrderlyStop(service);
  for (const { socket } of [...slow, halfHeaders, deaf]) {
    socket.destroy();
  }
});
