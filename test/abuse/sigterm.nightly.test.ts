import { test } from "vitest";
import { flag, frame, frameType, headerBlock, openFrames, requestFields } from "./frames.ts";
import { expectOrderlyStop } from "./orderly-stop.ts";
import { open, rawRequest } from "./raw-http.ts";
import { useService } from "./started-service.ts";

const service = useService({ KIBITZ_QUEUE_MAX_WAIT_MS: "600000" });

// The stop takes 20 s: no client is cut sooner.
test("28: SIGTERM ends the service with 0 although clients hold on to halves of requests and to answers that they do not take", async () => {
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
